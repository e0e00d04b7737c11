package spec

const (
	patternPeriod   = `^[1-9][0-9]{0,4} (hour|day|week|month)s?$`
	patternDeadline = `^([01][0-9]|2[0-3]):[0-5][0-9](\+[1-9][0-9]?d)?$`
	patternExcept   = `^([0-9]{4}-[0-9]{2}-[0-9]{2}(\.\.[0-9]{4}-[0-9]{2}-[0-9]{2})?|--[0-9]{2}-[0-9]{2}|(monday|tuesday|wednesday|thursday|friday|saturday|sunday))$`
	patternBaseline = `^(previous|(median|mean) [1-9][0-9]{0,2})( weekday)?$`
	patternQueue    = `^[^\s][\s\S]{0,199}$`
	patternID       = `^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`
)

var partitionKeys = keyTable{
	"apiVersion": {example: APIVersion, enum: []string{APIVersion}},
	"kind":       {example: KindPartitionCheck, enum: []string{KindPartitionCheck}},
	"name":       {example: "ventas-particiones", pattern: patternName},
	"table":      {example: "silver.ventas", pattern: patternTable},
	"path":       {example: "landing/ventas", pattern: patternText},

	"partition":          {example: "{columns: [dt], format: yyyy-MM-dd}"},
	"partition.columns":  {example: "[dt]", pattern: patternText},
	"partition.format":   {example: "yyyy-MM-dd", pattern: patternText},
	"partition.scheme":   {example: "date", enum: schemeNames()},
	"partition.timezone": {example: "Europe/Madrid", pattern: patternText},

	"expected":             {example: `{last: 14 days, every: 1 day, timezone: Europe/Madrid, deadline: "09:00"}`},
	"expected.last":        {example: "14 days", pattern: patternPeriod},
	"expected.start":       {example: `"2026-09-01"`, pattern: patternDay},
	"expected.end":         {example: `"2026-09-10"`, pattern: patternDay},
	"expected.every":       {example: "1 day", pattern: patternPeriod},
	"expected.timezone":    {example: "Europe/Madrid", pattern: patternText},
	"expected.deadline":    {example: `"09:00"`, pattern: patternDeadline},
	"expected.except":      {example: `["2026-12-25", sunday]`, pattern: patternExcept},
	"expected.except_file": {example: "calendars/es.txt", pattern: patternText},

	"checks":                      {example: "[{metric: missing_partitions, must_be: 0, severity: fail}]"},
	"checks.metric":               {example: "missing_partitions", enum: metricNames()},
	"checks.column":               {example: "ID_Cliente", pattern: patternText},
	"checks.per":                  {example: "partition", enum: []string{string(PerTable), string(PerPartition), string(PerFile)}},
	"checks.baseline":             {example: "median 7", pattern: patternBaseline},
	"checks.format":               {example: "yyyy-MM-dd", pattern: patternText},
	"checks.must_be":              {example: "0"},
	"checks.must_not_be":          {example: "0"},
	"checks.must_be_greater_than": {example: "0"},
	"checks.must_be_at_least":     {example: "1"},
	"checks.must_be_less_than":    {example: "200"},
	"checks.must_be_at_most":      {example: "200"},
	"checks.must_be_between":      {example: "[-50%, 200%]"},
	"checks.severity":             {example: "fail", enum: []string{string(SeverityFail), string(SeverityWarn)}},

	"files":        {example: "{verify: pages}"},
	"files.verify": {example: "pages", enum: []string{string(VerifyPages), string(VerifyFooters)}},

	"on_failure":                     {example: `{backfill: {workflow: LoadVentas, queue: loads, input: {date: "{partition}"}}}`},
	"on_failure.backfill":            {example: `{workflow: LoadVentas, queue: loads, input: {date: "{partition}"}}`},
	"on_failure.backfill.workflow":   {example: "LoadVentas", pattern: patternQueue},
	"on_failure.backfill.queue":      {example: "loads", pattern: patternQueue},
	"on_failure.backfill.input":      {example: `{date: "{partition}"}`},
	"on_failure.backfill.webhook":    {example: "{url_env: LAKEWARDEN_LOAD_URL, secret_env: LAKEWARDEN_LOAD_SECRET}"},
	"on_failure.backfill.fabric_job": {example: "{workspace: 5b2c…, item: 9f1e…, tenant_env: LAKEWARDEN_TENANT, client_id_env: LAKEWARDEN_CLIENT, client_secret_env: LAKEWARDEN_CLIENT_SECRET}"},

	"on_failure.backfill.webhook.url_env":              {example: "LAKEWARDEN_LOAD_URL", pattern: patternEnv},
	"on_failure.backfill.webhook.secret_env":           {example: "LAKEWARDEN_LOAD_SECRET", pattern: patternEnv},
	"on_failure.backfill.fabric_job.workspace":         {example: "5b2c8f9e-1d7a-4c55-9a57-1c1d7a2b3c4d", pattern: patternID},
	"on_failure.backfill.fabric_job.item":              {example: "9f1e8f9e-1d7a-4c55-9a57-1c1d7a2b3c4d", pattern: patternID},
	"on_failure.backfill.fabric_job.job_type":          {example: "Pipeline", pattern: patternID},
	"on_failure.backfill.fabric_job.tenant_env":        {example: "LAKEWARDEN_TENANT", pattern: patternEnv},
	"on_failure.backfill.fabric_job.client_id_env":     {example: "LAKEWARDEN_CLIENT", pattern: patternEnv},
	"on_failure.backfill.fabric_job.client_secret_env": {example: "LAKEWARDEN_CLIENT_SECRET", pattern: patternEnv},

	"on_failure.backfill.max_parallel":          {example: "4"},
	"on_failure.backfill.max_partitions":        {example: "100"},
	"on_failure.backfill.timeout":               {example: "6h", pattern: patternLength},
	"on_failure.rollback":                       {example: "{approval: {approvers: [data-steward], deadline: 24h}}"},
	"on_failure.rollback.approval":              {example: "{approvers: [data-steward], deadline: 24h}"},
	"on_failure.rollback.approval.approvers":    {example: "[data-steward]", pattern: patternText},
	"on_failure.rollback.approval.deadline":     {example: "24h", pattern: patternLength},
	"on_failure.rollback.approval.remind_every": {example: "4h", pattern: patternLength},

	"on_failure.notify":                    policyKeys["notify"],
	"on_failure.notify.webhook":            policyKeys["notify.webhook"],
	"on_failure.notify.webhook.url_env":    policyKeys["notify.webhook.url_env"],
	"on_failure.notify.webhook.secret_env": policyKeys["notify.webhook.secret_env"],
	"on_failure.notify.events":             policyKeys["notify.events"],
	"notify":                               policyKeys["notify"],
	"notify.webhook":                       policyKeys["notify.webhook"],
	"notify.webhook.url_env":               policyKeys["notify.webhook.url_env"],
	"notify.webhook.secret_env":            policyKeys["notify.webhook.secret_env"],
	"notify.events":                        policyKeys["notify.events"],

	"record":            {example: "{validation: control.partition_validation, stats: control.partition_stats}"},
	"record.validation": {example: DefaultValidationTable, pattern: patternTable},
	"record.stats":      {example: DefaultStatsTable, pattern: patternTable},
	"audit":             {example: "{table: control.expurgo_audit}"},
	"audit.table":       {example: DefaultAuditTable, pattern: patternTable},
	"dry_run":           {example: "true"},
	"requested_by":      {example: "ana@example.org", pattern: patternText},
}

func schemeNames() []string {
	return []string{
		string(SchemeDate), string(SchemeHour), string(SchemeWeek), string(SchemeMonth),
		string(SchemeYearMonth), string(SchemeYearMonthDay), string(SchemeYearWeek),
	}
}

// ExamplePartitionCheck is a valid partition check.
func ExamplePartitionCheck() string {
	return `apiVersion: lakewarden/v1
kind: PartitionCheck
name: ventas-particiones
table: silver.ventas
partition: {columns: [dt], format: yyyy-MM-dd}
expected: {last: 14 days, every: 1 day, timezone: Europe/Madrid, deadline: "09:00"}
checks:
  - {metric: missing_partitions, must_be: 0, severity: fail}
  - {metric: unreadable_files, must_be: 0, severity: fail}
  - {metric: row_count, per: partition, must_be_greater_than: 0, severity: fail}
`
}
