package spec

const patternSign = `^[^0-9A-Za-z+\-]$`

func cleanNames() []string {
	out := make([]string, len(CleanSteps))
	for i, c := range CleanSteps {
		out[i] = string(c)
	}
	return out
}

var dstNames = []string{string(DSTReject), string(DSTEarlier), string(DSTLater)}

var silverKeys = keyTable{
	"apiVersion": {example: APIVersion, enum: []string{APIVersion}},
	"kind":       {example: KindSilverTable, enum: []string{KindSilverTable}},
	"name":       {example: "ventas", pattern: patternName},

	"sources":                             {example: "[{name: erp, path: bronze/ventas/*.csv, format: csv}]"},
	"sources.name":                        {example: "erp", pattern: patternName},
	"sources.path":                        {example: "bronze/ventas/*.csv", pattern: patternText},
	"sources.table":                       {example: "bronze.ventas", pattern: patternTable},
	"sources.format":                      {example: "csv", enum: []string{string(FormatCSV), string(FormatJSON), string(FormatParquet), string(FormatDelta)}},
	"sources.options":                     {example: `{delimiter: ";", encoding: windows-1252, null_values: ["", "NULL"]}`},
	"sources.options.delimiter":           {example: `";"`},
	"sources.options.quote":               {example: `'"'`},
	"sources.options.header":              {example: "true"},
	"sources.options.encoding":            {example: "windows-1252", pattern: patternText},
	"sources.options.null_values":         {example: `["", "NULL"]`},
	"sources.incremental":                 {example: "files", enum: []string{string(IncrementalFiles), string(IncrementalVersion), string(IncrementalCDF), string(IncrementalFull)}},
	"sources.settle":                      {example: "5m", pattern: patternLength},
	"sources.apply_as_deletes":            {example: `"op = 'D'"`, pattern: patternText},
	"sources.columns":                     {example: "[{name: ID_Cliente, from: customer_id}]"},
	"sources.columns.name":                {example: "ID_Cliente", pattern: patternColumn},
	"sources.columns.from":                {example: "customer_id", pattern: patternText},
	"sources.columns.format":              {example: `["dd/MM/yyyy"]`, pattern: patternText},
	"sources.columns.decimal":             {example: `","`, pattern: patternSign},
	"sources.columns.grouping":            {example: `"."`, pattern: patternSign},
	"sources.columns.timezone":            {example: "Europe/Madrid", pattern: patternText},
	"sources.columns.dst":                 {example: "earlier", enum: dstNames},
	"sources.columns.two_digit_year_base": {example: "1950"},
	"sources.columns.default":             {example: "0"},
	"sources.columns.clean":               {example: "[trim, upper]", enum: cleanNames()},
	"sources.columns.values":              {example: "{ESP: ES, SPAIN: ES}"},

	"columns":                     {example: "[{name: ID_Venta, type: string, required: true, clean: [trim, upper]}]"},
	"columns.name":                {example: "ID_Venta", pattern: patternColumn},
	"columns.type":                {example: `"decimal(18,2)"`, pattern: patternText},
	"columns.from":                {example: "id_venta", pattern: patternText},
	"columns.expr":                {example: `"Fecha_Venta"`, pattern: patternText},
	"columns.format":              {example: `["dd/MM/yyyy", "yyyy-MM-dd"]`, pattern: patternText},
	"columns.decimal":             {example: `","`, pattern: patternSign},
	"columns.grouping":            {example: `"."`, pattern: patternSign},
	"columns.timezone":            {example: "Europe/Madrid", pattern: patternText},
	"columns.dst":                 {example: "earlier", enum: dstNames},
	"columns.two_digit_year_base": {example: "1950"},
	"columns.default":             {example: "0"},
	"columns.required":            {example: "true"},
	"columns.clean":               {example: "[trim, upper]", enum: cleanNames()},
	"columns.values":              {example: "{ESP: ES, SPAIN: ES}"},

	"keys":              {example: "[ID_Venta]", pattern: patternText},
	"sequence_by":       {example: "[Fecha_Modificacion]", pattern: patternText},
	"deletes":           {example: "soft", enum: []string{string(DeletesSoft), string(DeletesHard)}},
	"on_invalid_newest": {example: "keep_older", enum: []string{string(KeepOlder)}},

	"expectations":          {example: `[{name: importe_no_negativo, check: "Importe >= 0", severity: quarantine}]`},
	"expectations.name":     {example: "importe_no_negativo", pattern: patternName},
	"expectations.check":    {example: `"Importe >= 0"`, pattern: patternText},
	"expectations.severity": {example: "quarantine", enum: []string{string(SeverityWarn), string(SeverityQuarantine), string(SeverityFail)}},

	"limits":                   {example: "{max_quarantined: 5%}"},
	"limits.max_quarantined":   {example: "5%", pattern: patternShare},
	"schema_drift":             {example: "{new_columns: ignore}"},
	"schema_drift.new_columns": {example: "ignore", enum: []string{string(DriftIgnore), string(DriftFail)}},

	"target":                                        {example: "{table: silver.ventas, partition_by: [dt]}"},
	"target.table":                                  {example: "silver.ventas", pattern: patternTable},
	"target.partition_by":                           {example: "[dt]", pattern: patternText},
	"target.valid_from":                             {example: "true"},
	"target.retention":                              {example: "{policies: [{name: ventas-365d, older_than: {column: Fecha_Venta, days: 365}}]}"},
	"target.retention.policies":                     {example: "[{name: ventas-365d, older_than: {column: Fecha_Venta, days: 365}}]"},
	"target.retention.policies.name":                {example: "ventas-365d", pattern: patternName},
	"target.retention.policies.older_than":          {example: "{column: Fecha_Venta, days: 365, timezone: Europe/Madrid}"},
	"target.retention.policies.older_than.column":   {example: "Fecha_Venta", pattern: patternText},
	"target.retention.policies.older_than.days":     policyKeys["criteria.older_than.days"],
	"target.retention.policies.older_than.months":   policyKeys["criteria.older_than.months"],
	"target.retention.policies.older_than.years":    policyKeys["criteria.older_than.years"],
	"target.retention.policies.older_than.until":    policyKeys["criteria.older_than.until"],
	"target.retention.policies.older_than.from":     policyKeys["criteria.older_than.from"],
	"target.retention.policies.older_than.timezone": policyKeys["criteria.older_than.timezone"],
	"target.retention.policies.older_than.format":   policyKeys["criteria.older_than.format"],
	"target.retention.policies.older_than.undated":  policyKeys["criteria.older_than.undated"],
	"quarantine":           {example: "{table: silver.ventas_quarantine, retention: 90d}"},
	"quarantine.table":     {example: "silver.ventas_quarantine", pattern: patternTable},
	"quarantine.retention": {example: "90d", pattern: patternLength},

	"maintenance":                          {example: "{optimize: {min_small_files: 20}, vacuum: {retention: 168h}}"},
	"maintenance.optimize":                 {example: "{min_small_files: 20}"},
	"maintenance.optimize.min_small_files": {example: "20"},
	"maintenance.vacuum":                   {example: "{retention: 168h}"},
	"maintenance.vacuum.retention":         {example: "168h", pattern: patternLength},
	"record":                               {example: "{runs: control.silver_runs}"},
	"record.runs":                          {example: "control.silver_runs", pattern: patternTable},

	"full_refresh": {example: "true"},
	"dry_run":      {example: "true"},
	"requested_by": {example: "ana@example.org", pattern: patternText},
}

// ExampleSilverTable is a valid spec, small enough for an error message.
func ExampleSilverTable() string {
	return `apiVersion: lakewarden/v1
kind: SilverTable
name: ventas
sources:
  - {name: erp, path: bronze/ventas/*.csv, format: csv, options: {delimiter: ";"}}
columns:
  - {name: ID_Venta, type: string, required: true, clean: [trim, upper]}
  - {name: Fecha_Modificacion, type: timestamp, format: ["yyyy-MM-dd HH:mm:ss"], timezone: Europe/Madrid, required: true}
  - {name: Importe, type: "decimal(18,2)", decimal: ",", grouping: "."}
keys: [ID_Venta]
sequence_by: [Fecha_Modificacion]
expectations:
  - {name: importe_no_negativo, check: "Importe >= 0", severity: quarantine}
target: {table: silver.ventas}
`
}
