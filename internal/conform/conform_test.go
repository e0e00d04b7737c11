package conform

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/spec"
)

var alloc = memory.DefaultAllocator

const mod = "2026-09-01 10:00:00"

func field(t *testing.T, row, name string) any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(row), &m))
	return m[name]
}

func TestConform_two_updates_of_one_key_become_the_later_one(t *testing.T) {
	t.Parallel()
	o := conformText(t, load(t, "ventas.yaml", nil), ventasHeader+venta("V1", "01/09/2026", mod, "10,00")+venta("V1", "01/09/2026", "2026-09-01 11:00:00", "12,00"))
	require.Len(t, o.rows, 1)
	require.Equal(t, "12.00", field(t, o.rows[0], "Importe"))
	require.Equal(t, "2026-09-01", field(t, o.rows[0], "dt"))
	require.EqualValues(t, 2, o.counts.Read)
	require.EqualValues(t, 1, o.counts.Superseded)
	require.EqualValues(t, 0, o.counts.Ties)
}

func TestConform_a_null_or_blank_key_is_rejected(t *testing.T) {
	t.Parallel()
	table := load(t, "ventas.yaml", func(s *spec.SilverTable) {
		s.Keys = []string{"ID_Venta", "ID_Cliente"}
	})
	row := func(id, client string) string { return id + ";" + client + ";Ana;01/09/2026;" + mod + ";1,00;1\n" }
	o := conformText(t, table, ventasHeader+row("", "C")+row("  ", "C")+row("\u00a0", "C")+row("NULL", "C")+row(`""`, "C")+row("V", "")+row("V", " ")+row("V", "C"))
	require.Equal(t, []string{"key:null", "key:null", "key:null", "key:null", "key:null", "key:null", "key:null"}, o.codes())
	require.Len(t, o.rows, 1)
}

func TestConform_ties_end_the_same_in_every_order(t *testing.T) {
	t.Parallel()
	table := load(t, "ventas.yaml", nil)
	rows := []string{venta("V1", "01/09/2026", mod, "61"), venta("V1", "01/09/2026", mod, "64"), venta("V1", "01/09/2026", mod, "65"), venta("V1", "01/09/2026", mod, "64")}
	var first outcome
	for i, order := range [][]int{{0, 1, 2, 3}, {2, 1, 0, 3}, {1, 2, 3, 0}, {3, 0, 1, 2}} {
		text := ventasHeader
		for _, n := range order {
			text += rows[n]
		}
		o := conformText(t, table, text)
		if i == 0 {
			first = o
		}
		require.Equal(t, first.rows, o.rows)
		require.Equal(t, first.counts, o.counts)
	}
	require.Equal(t, "65.00", field(t, first.rows[0], "Importe"))
	require.EqualValues(t, 1, first.counts.Ties)
	require.EqualValues(t, 1, first.counts.Duplicates)
	require.EqualValues(t, 2, first.counts.Superseded)

	same := conformText(t, table, ventasHeader+rows[0]+rows[0]+rows[0])
	require.EqualValues(t, 0, same.counts.Ties, "exact copies are not ties")
	require.EqualValues(t, 2, same.counts.Duplicates)
}

func TestConform_ties_are_broken_by_the_second_column(t *testing.T) {
	t.Parallel()
	table := load(t, "ventas.yaml", func(s *spec.SilverTable) {
		s.Columns = append(s.Columns, spec.SilverColumn{Name: "Linea", Type: "integer", Required: true})
		s.SequenceBy = append(s.SequenceBy, "Linea")
	})
	row := func(importe, line string) string {
		return "V1;C1;Ana;01/09/2026;" + mod + ";" + importe + ";1;" + line + "\n"
	}
	o := conformText(t, table, strings.TrimSpace(ventasHeader)+";Linea\n"+row("61", "3")+row("64", "10")+row("65", "2"))
	require.Equal(t, "64.00", field(t, o.rows[0], "Importe"))
	require.EqualValues(t, 0, o.counts.Ties)
}

func TestCast_dates_that_do_not_exist_are_rejected(t *testing.T) {
	t.Parallel()
	c := spec.SilverColumn{Type: "date", Format: []string{"dd/MM/yyyy", "yyyy-MM-dd"}}
	for in, want := range map[string]string{
		"2023-02-30": "cast:date", "2023-02-29": "cast:date", "31/04/2024": "cast:date", "2024-02-29": "2024-02-29", "00/01/2024": "cast:date", "01/00/2024": "cast:date",
		"31/12/2014": "2014-12-31", "10/03/2011": "2011-03-10", "01/13/2012": "cast:date", "1/3/2011": "cast:date", "2024-02-29 ": "2024-02-29",
		"2024-02-29x": "cast:date", "x2024-02-29": "cast:date", "2024-2-29": "cast:date", "9999-12-31": "9999-12-31", "0001-01-01": "0001-01-01", "0000-01-01": "cast:date",
		"1900-02-29": "cast:date", "2000-02-29": "2000-02-29", "29/02/1900": "cast:date", "\u00a010/03/2011\u202f": "2011-03-10", "": "cast:date",
	} {
		require.Equal(t, want, one(t, c, in), in)
	}
	both := spec.SilverColumn{Type: "date", Format: []string{"dd/MM/yyyy", "MM/dd/yyyy"}}
	require.Equal(t, "cast:ambiguous", one(t, both, "03/04/2024"))
	require.Equal(t, "2024-04-04", one(t, both, "04/04/2024"))
	require.Equal(t, "2024-04-13", one(t, both, "13/04/2024"))
	two := 1950
	yy := spec.SilverColumn{Type: "date", Format: []string{"dd/MM/yy"}, TwoDigitYearBase: &two}
	require.Equal(t, "2049-12-31", one(t, yy, "31/12/49"))
	require.Equal(t, "1950-01-01", one(t, yy, "01/01/50"))
	require.Equal(t, "1999-01-01", one(t, yy, "01/01/99"))
	require.Equal(t, "2000-01-01", one(t, yy, "01/01/00"))
	plain := spec.SilverColumn{Type: "date", Format: []string{"d/M/yyyy"}}
	require.Equal(t, "2024-03-01", one(t, plain, "1/3/2024"))
	require.Equal(t, "2024-03-11", one(t, plain, "11/03/2024"))
	require.Equal(t, "2024-03-01", one(t, spec.SilverColumn{Type: "date", Format: []string{"yyyyMMdd"}}, "20240301"))
	require.Equal(t, "cast:scale", one(t, spec.SilverColumn{Type: "date"}, "2024-03-01 10:00"))
}

func TestCast_numbers_are_exact_or_rejected(t *testing.T) {
	t.Parallel()
	eu := spec.SilverColumn{Type: "decimal(18,2)", Decimal: ",", Grouping: "."}
	for in, want := range map[string]string{
		"1.299,99": "1299.99", "265,64": "265.64", "12.34": "cast:decimal", "1.2345,6": "cast:decimal", "-5,00": "-5.00", "1299,99": "1299.99", "1.234.567,8": "1234567.80",
		"12345.678,00": "cast:decimal", "+7": "7.00", "7,": "cast:decimal", ",5": "cast:decimal", "1,005": "cast:scale", "1,000": "1.00", "1.000": "1000.00", "": "cast:decimal", "-": "cast:decimal",
		"1e3": "cast:decimal", "1 000,00": "cast:decimal", "\u00a012,50": "12.50", "(5,00)": "cast:decimal", "5,00-": "cast:decimal", ".100,00": "cast:decimal", "0,10": "0.10", "-0,01": "-0.01",
		"9.999.999.999.999.999,99": "9999999999999999.99", "10.000.000.000.000.000,00": "cast:out_of_range", "NaN": "cast:decimal", "٣": "cast:decimal",
	} {
		require.Equal(t, want, one(t, eu, in), in)
	}
	small := spec.SilverColumn{Type: "decimal(5,2)", Decimal: ","}
	require.Equal(t, "999.99", one(t, small, "999,99"))
	require.Equal(t, "cast:out_of_range", one(t, small, "1000,00"))
	require.Equal(t, "cast:out_of_range", one(t, small, "-1000,00"))
	require.Equal(t, "12345678901234567890123456789012345678", one(t, spec.SilverColumn{Type: "decimal(38,0)"}, "12345678901234567890123456789012345678"))
	for typ, cases := range map[string]map[string]string{
		"integer": {"2147483648": "cast:out_of_range", "2147483647": "2147483647", "-2147483648": "-2147483648", "0870": "870", "12.0": "cast:integer", "1.5": "cast:integer", "": "cast:integer", "1_000": "cast:integer"},
		"long":    {"2147483648": "2147483648", "9223372036854775808": "cast:out_of_range", "-9223372036854775808": "-9223372036854775808"},
		"byte":    {"127": "127", "128": "cast:out_of_range"}, "short": {"-32768": "-32768", "32768": "cast:out_of_range"},
		"double":  {"1.5": "1.5", "1e400": "cast:out_of_range", "NaN": "cast:double", "Infinity": "cast:double", "0x10": "cast:double", "-0.1": "-0.1"},
		"boolean": {"TRUE": "true", "false": "false", "1": "cast:boolean", "S": "cast:boolean"},
		"string":  {"0870": "0870", "  x": "  x"},
	} {
		for in, want := range cases {
			require.Equal(t, want, one(t, spec.SilverColumn{Type: typ}, in), typ+" "+in)
		}
	}
	require.Equal(t, "1234567", one(t, spec.SilverColumn{Type: "integer", Grouping: "."}, "1.234.567"))
	require.Equal(t, "cast:integer", one(t, spec.SilverColumn{Type: "integer", Grouping: "."}, "12.34"))
}

func TestCast_times_are_of_their_zone_and_never_shifted(t *testing.T) {
	t.Parallel()
	c := spec.SilverColumn{Type: "timestamp", Format: []string{"yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ssXXX"}, Timezone: "Europe/Madrid"}
	for in, want := range map[string]string{
		"2024-07-01 00:00:00":       "2024-06-30T22:00:00Z",
		"2024-01-01 00:00:00":       "2023-12-31T23:00:00Z",
		"2024-07-01T00:00:00+05:30": "2024-06-30T18:30:00Z",
		"2024-07-01T00:00:00Z":      "2024-07-01T00:00:00Z",
		"2024-03-31 02:30:00":       "cast:timestamp", // clocks skip it
		"2024-10-27 02:30:00":       "cast:timestamp", // occurs twice
		"2024-10-27 01:59:59":       "2024-10-26T23:59:59Z",
		"2024-10-27 03:00:00":       "2024-10-27T02:00:00Z",
		"2024-03-31 01:59:59":       "2024-03-31T00:59:59Z",
		"2024-03-31 03:00:00":       "2024-03-31T01:00:00Z",
		"2024-07-01 24:00:00":       "cast:timestamp",
		"2024-07-01 10:00":          "cast:timestamp",
		"1850-01-01 00:00:00":       "1850-01-01T00:14:44Z",
	} {
		require.Equal(t, want, one(t, c, in), in)
	}
	c.DST = spec.DSTEarlier
	require.Equal(t, "2024-10-27T00:30:00Z", one(t, c, "2024-10-27 02:30:00"))
	require.Equal(t, "cast:timestamp", one(t, c, "2024-03-31 02:30:00"))
	c.DST = spec.DSTLater
	require.Equal(t, "2024-10-27T01:30:00Z", one(t, c, "2024-10-27 02:30:00"))
	iso := spec.SilverColumn{Type: "timestamp"}
	for in, want := range map[string]string{
		"2024-07-01": "2024-07-01T00:00:00Z", "2024-07-01T10:11": "2024-07-01T10:11:00Z", "2024-07-01 10:11:12.5": "2024-07-01T10:11:12.5Z",
		"2024-07-01T10:11:12.123456Z": "2024-07-01T10:11:12.123456Z", "2024-07-01T10:11:12.1234567Z": "cast:scale", "2024-07-01T10:11:12.1234560Z": "2024-07-01T10:11:12.123456Z",
		"2024-07-01T10:11:12+0200": "2024-07-01T08:11:12Z", "2024-07-01T10:11:12.": "cast:timestamp", "2024-07-01T": "cast:timestamp", "20240701": "cast:timestamp",
		"2024-07-01T10:11:12+02:00x": "cast:timestamp",
	} {
		require.Equal(t, want, one(t, iso, in), in)
	}
	ntz := spec.SilverColumn{Type: "timestamp_ntz"}
	require.Equal(t, "2024-07-01T10:11:12", one(t, ntz, "2024-07-01 10:11:12"))
	require.Equal(t, "cast:timestamp_ntz", one(t, ntz, "2024-07-01 10:11:12Z"))
	ampm := spec.SilverColumn{Type: "timestamp_ntz", Format: []string{"MM/dd/yyyy hh:mm a"}}
	require.Equal(t, "2024-07-01T00:05:00", one(t, ampm, "07/01/2024 12:05 am"))
	require.Equal(t, "2024-07-01T12:05:00", one(t, ampm, "07/01/2024 12:05 PM"))
	require.Equal(t, "cast:timestamp_ntz", one(t, ampm, "07/01/2024 13:05 PM"))
}

func TestClean_steps_run_in_their_fixed_order(t *testing.T) {
	t.Parallel()
	all := newCleaner([]spec.Clean{spec.CleanUpper, spec.CleanTrim, spec.CleanCollapseSpaces, spec.CleanFixEncoding, spec.CleanNFC, spec.CleanStripInvisible})
	require.Equal(t, "JOSÉ PÉREZ", all.run("Â\u00a0 JosÃ© \t PÃ©rez"))
	require.Equal(t, "ANÉ PÉREZ", all.run("\u00a0 Ané\u200b \t Pe\u0301rez\u3000"))
	for in, want := range map[string]string{
		"JosÃ©": "José", "José": "José", "CÔTE": "CÔTE", "Â¿QuÃ©?": "¿Qué?", "â‚¬": "€", "Ã": "Ã", "«CAFÉ»": "«CAFÉ»", "日本": "日本", "plain": "plain", "JosÃƒÂ©": "José", "": "",
	} {
		require.Equal(t, want, fixEncoding(in), in)
	}
	for _, s := range []string{"V1", "V1 ", "\u00a0V1", "\tV1\u202f", "\u3000V1\u2003", "V1\u0085", "\u1680V1"} {
		require.Equal(t, "V1", trim(s))
	}
	require.Equal(t, "V\u200b1", trim("V\u200b1"))
}

func TestConform_keys_that_differ_in_spaces_are_one_and_those_in_zeros_are_two(t *testing.T) {
	t.Parallel()
	table := load(t, "ventas.yaml", nil)
	o := conformText(t, table, ventasHeader+venta("V1", "01/09/2026", mod, "\u00a012,50")+venta("V1 ", "01/09/2026", mod, "12,50")+venta("\u00a0v1", "01/09/2026", mod, "12,50"))
	require.Len(t, o.rows, 1)
	require.Equal(t, "12.50", field(t, o.rows[0], "Importe"))
	require.EqualValues(t, 2, o.counts.Duplicates)
	o = conformText(t, table, ventasHeader+venta("0870", "01/09/2026", mod, "1")+venta("870", "01/09/2026", mod, "1")+venta(`"0870"`, "01/09/2026", mod, "1"))
	require.Len(t, o.rows, 2)
	require.EqualValues(t, 1, o.counts.Duplicates)
}

func TestReadCSV_encodings_are_declared_and_kept(t *testing.T) {
	t.Parallel()
	text := "ID_Venta;Cliente;Fecha_Venta;Fecha_Modificacion;Importe\nV1;C\xd4TE;01/09/2026;" + mod + ";1\nV2;ok;01/09/2026;" + mod + ";1\n"
	latin := load(t, "ventas.yaml", func(s *spec.SilverTable) { s.Sources[0].Options.Encoding = "windows-1252" })
	o := conformText(t, latin, text)
	require.Len(t, o.rows, 2)
	require.Contains(t, strings.Join(o.rows, ""), "CÔTE")

	o = conformText(t, load(t, "ventas.yaml", nil), text)
	require.Len(t, o.rows, 1)
	require.Equal(t, []string{"structure:encoding"}, o.codes())
	require.Contains(t, o.rejects[0].Raw, "_record_base64")
	require.NotContains(t, o.rejects[0].Raw, "\ufffd")

	bad := strings.ReplaceAll(text, "\xd4", "\x81") // no character of Windows-1252
	require.Equal(t, []string{"structure:encoding"}, conformText(t, latin, bad).codes())

	for _, bom := range []string{"\ufeff", "\ufeff\""} {
		head := ventasHeader
		if strings.HasSuffix(bom, `"`) {
			head = strings.Replace(head, "ID_Venta", `ID_Venta"`, 1)
		}
		require.Len(t, conformText(t, load(t, "ventas.yaml", nil), bom+head+venta("V1", "01/09/2026", mod, "1")).rows, 1)
	}
	utf16text := func(order string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune("\ufeff" + ventasHeader + venta("V1", "01/09/2026", mod, "1") + venta("Ñ😀", "01/09/2026", mod, "1"))) {
			if order == "le" {
				b.Write([]byte{byte(u), byte(u >> 8)})
			} else {
				b.Write([]byte{byte(u >> 8), byte(u)})
			}
		}
		return b.String()
	}
	for _, order := range []string{"le", "be"} {
		for _, name := range []string{"utf-16", "utf-16" + order} {
			table := load(t, "ventas.yaml", func(s *spec.SilverTable) { s.Sources[0].Options.Encoding = name })
			require.Len(t, conformText(t, table, utf16text(order)).rows, 2, name)
		}
		for _, err := range ReadCSV(strings.NewReader(utf16text(order)), "f", spec.SourceOptions{Delimiter: ";"}) {
			require.ErrorIs(t, err, errBOM)
		}
	}
}

func TestReadCSV_records_follow_RFC_4180(t *testing.T) {
	t.Parallel()
	read := func(text string, o spec.SourceOptions) (out []string) {
		for _, r := range []func(s string) *strings.Reader{strings.NewReader} {
			for b, err := range ReadCSV(iotest.OneByteReader(r(text)), "f", o) {
				require.NoError(t, err)
				for i := range b.Rows {
					out = append(out, b.raw(i))
				}
				b.Release()
			}
		}
		var whole []string
		for b, err := range ReadCSV(strings.NewReader(text), "f", o) {
			require.NoError(t, err)
			for i := range b.Rows {
				whole = append(whole, b.raw(i))
			}
			b.Release()
		}
		require.Equal(t, whole, out, "cut anywhere, the records are the same")
		return out
	}
	semi := spec.SourceOptions{Delimiter: ";"}
	require.Equal(t, []string{`{"a":"V1","b":"Calle Mayor 5\n2º B; dcha","c":"x"}`}, read("a;b;c\r\nV1;\"Calle Mayor 5\n2º B; dcha\";x\r\n", semi))
	require.Equal(t, []string{`{"a":"say \"hi\"","b":""}`, `{"a":"","b":"a\r\nb"}`}, read("a;b\n\"say \"\"hi\"\"\";\n;\"a\r\nb\"", semi))
	require.Equal(t, []string{`{"a":"5\" pipe","b":"x"}`}, read("a;b\n5\" pipe;x\n", semi), "a quote inside an unquoted cell is text")
	require.Equal(t, []string{`{"_record":"\"a\"b;c"}`, `{"a":"1","b":"2"}`}, read("a;b\n\"a\"b;c\n1;2\n", semi))
	require.Equal(t, []string{`{"_record":"\"never closed;c"}`, `{"a":"1","b":"2"}`}, read("a;b\n\"never closed;c\n1;2\n", semi))
	require.Equal(t, []string{`{"_record":"1"}`, `{"_record":"1;2;3"}`, `{"a":"1","b":"2"}`}, read("a;b\n1\n1;2;3\n\n1;2", semi))
	require.Equal(t, []string{`{"a":""}`, `{"a":"x"}`}, read("a\n\nx\n", semi), "an empty line is an empty cell where there is one column")
	require.Nil(t, read("", semi))
	require.Nil(t, read("a;b\n", semi))
	no := false
	require.Equal(t, []string{`{"_c1":"a","_c2":"b"}`, `{"_c1":"c","_c2":"d"}`}, read("a;b\nc;d\n", spec.SourceOptions{Delimiter: ";", Header: &no}))
}

func TestConform_missing_new_and_double_columns(t *testing.T) {
	t.Parallel()
	table := load(t, "ventas.yaml", nil)
	run := func(text string) (*Source, error) {
		src, err := table.Source("erp")
		require.NoError(t, err)
		for b, err := range ReadCSV(strings.NewReader(text), "f.csv", src.spec.Options) {
			require.NoError(t, err)
			defer b.Release()
			if _, err := src.Conform(b, 0); err != nil {
				return src, err
			}
		}
		return src, nil
	}
	src, err := run("id_venta;Fecha_Venta;Fecha_Modificacion;Importe;Nueva\nV1;01/09/2026;" + mod + ";1;x\n")
	require.NoError(t, err)
	require.Equal(t, []string{"Cliente", "ID_Cliente", "Unidades"}, src.Missing())
	require.Equal(t, []string{"Nueva"}, src.Extra())
	_, err = run("ID_Venta;Fecha_Venta;Importe\nV1;01/09/2026;1\n")
	require.ErrorContains(t, err, "column Fecha_Modificacion is missing")
	require.ErrorContains(t, err, "f.csv")
	_, err = run("ID_Venta;ID_Venta;Fecha_Venta;Fecha_Modificacion;Importe\nV1;V2;01/09/2026;" + mod + ";1\n")
	require.ErrorContains(t, err, "two columns are called ID_Venta")
	table = load(t, "ventas.yaml", func(s *spec.SilverTable) { s.SchemaDrift.NewColumns = spec.DriftFail })
	_, err = run(strings.TrimSpace(ventasHeader) + ";Nueva\n" + strings.TrimSpace(venta("V1", "01/09/2026", mod, "1")) + ";x\n")
	require.ErrorContains(t, err, "Nueva")
}

func TestConform_defaults_rules_and_reasons(t *testing.T) {
	t.Parallel()
	table := load(t, "ventas.yaml", nil)
	o := conformText(t, table, ventasHeader+"V1;C;Ana;01/09/2026;"+mod+";-1,00;\nV2;C;Ana;01/09/2027;"+mod+";1,00;NULL\nV3;C;Ana;;x;;y\n")
	require.Equal(t, []string{"rule:importe_no_negativo", "cast:timestamp"}, o.codes())
	require.Len(t, o.rejects[1].Reasons, 4)
	require.Equal(t, map[string]int64{"fecha_no_futura": 1}, o.counts.Warned)
	require.Equal(t, "0", field(t, o.rows[0], "Unidades"))
	require.JSONEq(t, `{"ID_Venta":"V3","ID_Cliente":"C","Cliente":"Ana","Fecha_Venta":"","Fecha_Modificacion":"x","Importe":"","Unidades":"y"}`, o.rejects[1].Raw)
	require.NotNil(t, o.rejects[0].Key)
	require.Nil(t, o.rejects[1].Key)
}

func TestCompile_what_cannot_be_right_is_named(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*spec.SilverTable){
		"expectations[0].check": func(s *spec.SilverTable) { s.Expectations[0].Check = "Importee >= 0" },
		"asks for the time":     func(s *spec.SilverTable) { s.Expectations[1].Severity = spec.SeverityQuarantine },
		"a rule is true":        func(s *spec.SilverTable) { s.Expectations[0].Check = "Importe + 1" },
		"CAST(":                 func(s *spec.SilverTable) { s.Columns[7].Expr = "Importe" },
		"default":               func(s *spec.SilverTable) { s.Columns[6].Default = "x" },
		"encoding":              func(s *spec.SilverTable) { s.Sources[0].Options.Encoding = "klingon" },
		"apply_as_deletes":      func(s *spec.SilverTable) { s.Sources[0].ApplyAsDeletes = "op = " },
	} {
		s := load(t, "ventas.yaml", nil).Spec()
		change(&s)
		_, err := Compile(s, Options{Now: testNow})
		if want == "encoding" || want == "default" || want == "apply_as_deletes" || err == nil {
			_, err = Compile(s, Options{Now: testNow, Zones: zones})
		}
		require.ErrorContains(t, err, want)
	}
}

func TestReadJSON_numbers_keep_their_digits_and_nested_members_are_found(t *testing.T) {
	t.Parallel()
	table := load(t, "ventas.yaml", func(s *spec.SilverTable) {
		s.Sources[0].Format, s.Sources[0].Options = spec.FormatJSON, spec.SourceOptions{}
		s.Columns[2].From = "customer.name"
	})
	line := func(id, importe, more string) string {
		return `{"ID_Venta":"` + id + `","customer":{"name":"Ana\u00f1","x":1},"Fecha_Venta":"01/09/2026","Fecha_Modificacion":"` + mod + `","Importe":` + importe + more + "}\n"
	}
	o := conformText(t, table, line("V1", "1234.50", "")+line("V2", `"1.234,50"`, "")+line("V3", "1.23e2", "")+line("V4", "0.1234567890123", "")+
		"{oops}\n\n[1]\n"+line("V5", "1", `,"Importe":2`)+line("V6", "1", `,"Cliente":"\ud800"`)+line("V7", "null", ""))
	got := map[any]any{}
	for _, r := range o.rows {
		got[field(t, r, "ID_Venta")] = field(t, r, "Importe")
	}
	require.Equal(t, map[any]any{"V1": "1234.50", "V2": "1234.50", "V3": "123.00", "V6": "1.00"}, got)
	require.Equal(t, []string{"cast:scale", "structure:json", "structure:json", "structure:duplicate_column", "required"}, o.codes())
	require.Contains(t, o.rows[0], "Anañ")
}
