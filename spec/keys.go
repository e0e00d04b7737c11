package spec

import (
	"regexp"
	"strings"
)

// key is what is known about one key beside its Go type: a right value, as YAML
// on one line, and the values it is limited to. Errors and the JSON Schema both
// read it, so that they agree.
type key struct {
	example string
	enum    []string
	pattern string
}

// Patterns of names. They are stricter than Delta: a name becomes part of paths,
// workflow IDs and SQL.
const (
	patternName   = `^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`
	patternTable  = `^[\p{L}\p{N}_][\p{L}\p{N}_-]{0,127}\.[\p{L}\p{N}_][\p{L}\p{N}_-]{0,127}$`
	patternColumn = "^[^ ,;{}()\\n\\t=`]+$"
	patternEnv    = `^LAKEWARDEN_[A-Z0-9_]+$`
	patternDay    = `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
	patternShare  = `^[0-9]{1,3}(\.[0-9]{1,10})?%$`
	patternLength = `^([0-9]{1,6}d)?([0-9]{1,9}h)?([0-9]{1,9}m)?([0-9]{1,9}s)?$`
	patternRunID  = `^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`
	patternText   = `\S`
)

var policyKeys = map[string]key{
	"apiVersion":  {example: APIVersion, enum: []string{APIVersion}},
	"kind":        {example: KindRetentionPolicy, enum: []string{KindRetentionPolicy}},
	"name":        {example: "vendas-365d", pattern: patternName},
	"owner":       {example: "sales-data", pattern: patternText},
	"legal_basis": {example: `"Commercial records, one year after the sale"`, pattern: patternText},
	"table":       {example: "bronze.vendas", pattern: patternTable},

	"criteria":                     {example: "{older_than: {column: event_date, days: 365, timezone: Europe/Lisbon}}"},
	"criteria.older_than":          {example: "{column: event_date, days: 365, timezone: Europe/Lisbon}"},
	"criteria.older_than.column":   {example: "event_date", pattern: patternText},
	"criteria.older_than.days":     {example: "365"},
	"criteria.older_than.months":   {example: "18"},
	"criteria.older_than.years":    {example: "10"},
	"criteria.older_than.until":    {example: "2024-01-01", pattern: patternDay},
	"criteria.older_than.from":     {example: "end_of_year", enum: []string{string(FromDate), string(FromEndOfYear)}},
	"criteria.older_than.timezone": {example: "Europe/Lisbon", pattern: patternText},
	"criteria.older_than.format":   {example: "yyyy-MM-dd", pattern: patternText},
	"criteria.older_than.undated":  {example: "report", enum: []string{string(UndatedReport)}},
	"criteria.where":               {example: `"status = 'CLOSED'"`, pattern: patternText},
	"criteria.keys":                {example: "{from: control.purge_keys, columns: [id]}"},
	"criteria.keys.from":           {example: "control.purge_keys", pattern: patternTable},
	"criteria.keys.columns":        {example: "[id]", pattern: patternText},
	"criteria.keys.target_columns": {example: "[customer_id]", pattern: patternText},

	"hold":                {example: `{where: "status = 'LITIGATION'"}`},
	"hold.where":          {example: `"status = 'LITIGATION'"`, pattern: patternText},
	"hold.table":          {example: "control.legal_holds", pattern: patternTable},
	"hold.keys":           {example: "[id]", pattern: patternText},
	"hold.target_columns": {example: "[customer_id]", pattern: patternText},
	"hold.until_column":   {example: "held_until", pattern: patternText},

	"mark":        {example: "{column: _expurgo_flag}"},
	"mark.column": {example: "_expurgo_flag", pattern: patternColumn},

	"approval":              {example: "{on: marked, approvers: [data-steward, dpo], deadline: 72h}"},
	"approval.on":           {example: "marked", enum: []string{string(ApprovalPlan), string(ApprovalMarked), string(ApprovalNone)}},
	"approval.approvers":    {example: "[data-steward, dpo]", pattern: patternText},
	"approval.deadline":     {example: "72h", pattern: patternLength},
	"approval.remind_every": {example: "24h", pattern: patternLength},

	"archive":        {example: `{table: archive.vendas_expurgo} or {table: none, reason: "Personal data, nothing may be kept"}`},
	"archive.table":  {example: "archive.vendas_expurgo", pattern: `^none$|` + patternTable},
	"archive.reason": {example: `"Personal data, nothing may be kept"`, pattern: patternText},

	"delete":       {example: "{match: flag} or {match: keys, keys: [id]}"},
	"delete.match": {example: "flag", enum: []string{string(MatchFlag), string(MatchKeys)}},
	"delete.keys":  {example: "[id]", pattern: patternText},

	"limits":                             {example: "{max_share_of_rows: 10%, first_run: {max_share_of_rows: 90%}}"},
	"limits.max_share_of_rows":           {example: "10%", pattern: patternShare},
	"limits.max_rows":                    {example: "5000000"},
	"limits.max_multiple_of_median":      {example: "10"},
	"limits.first_run":                   {example: "{max_share_of_rows: 90%}"},
	"limits.first_run.max_share_of_rows": {example: "90%", pattern: patternShare},
	"limits.first_run.max_rows":          {example: "50000000"},

	"vacuum":                        {example: "{retention: 168h}"},
	"vacuum.retention":              {example: "168h", pattern: patternLength},
	"vacuum.allow_below_floor":      {example: `{risk: "Readers that run longer than a day lose their files; there are none"}`},
	"vacuum.allow_below_floor.risk": {example: `"Readers that run longer than a day lose their files; there are none"`, pattern: patternText},

	"erasure":       {example: "{prove: true}"},
	"erasure.prove": {example: "true"},
	"audit":         {example: "{table: control.expurgo_audit}"},
	"audit.table":   {example: "control.expurgo_audit", pattern: patternTable},

	"notify":                    {example: "{webhook: {url_env: LAKEWARDEN_PURGE_URL, secret_env: LAKEWARDEN_PURGE_SECRET}, events: [failed, erased]}"},
	"notify.webhook":            {example: "{url_env: LAKEWARDEN_PURGE_URL, secret_env: LAKEWARDEN_PURGE_SECRET}"},
	"notify.webhook.url_env":    {example: "LAKEWARDEN_PURGE_URL", pattern: patternEnv},
	"notify.webhook.secret_env": {example: "LAKEWARDEN_PURGE_SECRET", pattern: patternEnv},
	"notify.events":             {example: "[failed, erased]", enum: []string{string(EventApprovalDue), string(EventFailed), string(EventCompleted), string(EventErased)}},

	"dry_run":      {example: "true"},
	"requested_by": {example: "ana@example.org", pattern: patternText},
}

var lakehouseKeys = map[string]key{
	"apiVersion":          {example: APIVersion, enum: []string{APIVersion}},
	"kind":                {example: KindPurgeLakehouse, enum: []string{KindPurgeLakehouse}},
	"name":                {example: "nightly", pattern: patternName},
	"policies":            {example: "[{apiVersion: lakewarden/v1, kind: RetentionPolicy, name: vendas-365d, …}]"},
	"max_parallel":        {example: "4"},
	"continue_on_failure": {example: "true"},
	"dry_run":             {example: "true"},
	"requested_by":        {example: "ana@example.org", pattern: patternText},
}

var restoreKeys = map[string]key{
	"apiVersion":   {example: APIVersion, enum: []string{APIVersion}},
	"kind":         {example: KindRestoreRequest, enum: []string{KindRestoreRequest}},
	"run_id":       {example: "2f1c9d5e-6f0e-4a3b-9a57-1c1d7a2b3c4d", pattern: patternRunID},
	"where":        {example: `"id = 42"`, pattern: patternText},
	"keys":         {example: "[id]", pattern: patternText},
	"hold_until":   {example: "2026-12-31", pattern: patternDay},
	"reason":       {example: `"Purged by a wrong date, ticket 4711"`, pattern: patternText},
	"audit":        {example: "{table: control.expurgo_audit}"},
	"audit.table":  {example: "control.expurgo_audit", pattern: patternTable},
	"dry_run":      {example: "true"},
	"requested_by": {example: "ana@example.org", pattern: patternText},
}

var listIndex = regexp.MustCompile(`\[\d+\]`)

// keyTable finds what is known about a key by its path, list indexes left out.
type keyTable map[string]key

func (t keyTable) find(path string) (key, bool) {
	path = listIndex.ReplaceAllString(path, "")
	if inner, nested := strings.CutPrefix(path, "policies."); nested {
		k, ok := policyKeys[inner]
		return k, ok
	}
	k, ok := t[path]
	return k, ok
}

// example is a right form of the key at path: "days: 365".
func (t keyTable) example(path string) string {
	k, ok := t.find(path)
	if !ok {
		return ""
	}
	name := listIndex.ReplaceAllString(path[strings.LastIndex(path, ".")+1:], "")
	return name + ": " + k.example
}
