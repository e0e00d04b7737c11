package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/spec"
)

func (a *app) specCommand() *cobra.Command {
	c := &cobra.Command{Use: "spec", Short: "Check and convert policies"}
	c.AddCommand(a.specCheck(), a.specConvert(), a.specSchema(), &cobra.Command{
		Use: "example", Short: "Print a valid retention policy", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { _, err := io.WriteString(a.out, spec.Example()); return err },
	})
	return c
}

func (a *app) specCheck() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "check -f policy.yaml", Short: "Say what is wrong with a document", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := readDocument(file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			doc, problems := spec.Check(data, time.LoadLocation)
			problems = append(problems, checkPredicates(doc)...)
			if problems == nil {
				problems = spec.Problems{}
			}
			if err := a.print(map[string]any{"valid": len(problems) == 0, "problems": problems}, func(w io.Writer) {
				if len(problems) == 0 {
					fmt.Fprintf(w, "%s is valid\n", file)
					return
				}
				fmt.Fprintf(w, "%s has %d problems:\n%v\n", file, len(problems), problems)
			}); err != nil {
				return err
			}
			if len(problems) > 0 {
				return quietError{"not valid"}
			}
			return nil
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "", "document, YAML or JSON; - for standard input")
	cobra.CheckErr(c.MarkFlagRequired("file"))
	return c
}

// checkPredicates parses the SQL of a document; columns and types are checked
// by the plan, which knows the table.
func checkPredicates(doc spec.Document) (out spec.Problems) {
	sql := func(path, text string) {
		if text == "" {
			return
		}
		if _, err := expr.Parse(text); err != nil {
			out = append(out, spec.Problem{Path: path, Message: err.Error()})
		}
	}
	policies, prefix := []spec.RetentionPolicy{}, ""
	switch d := doc.(type) {
	case spec.RetentionPolicy:
		policies = append(policies, d)
	case spec.PurgeLakehouse:
		policies, prefix = d.Policies, "policies[%d]."
	case spec.RestoreRequest:
		sql("where", d.Where)
	}
	for i, p := range policies {
		at := strings.ReplaceAll(prefix, "%d", fmt.Sprint(i))
		sql(at+"criteria.where", p.Criteria.Where)
		if p.Hold != nil {
			sql(at+"hold.where", p.Hold.Where)
		}
	}
	return out
}

func (a *app) specConvert() *cobra.Command {
	var file, to string
	c := &cobra.Command{
		Use: "convert -f policy.yaml --to json", Short: "Convert a document between YAML and JSON", Args: cobra.NoArgs,
		Long: "Convert a document, for example for the Temporal CLI's --input-file, which takes JSON.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := readDocument(file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			doc, problems := spec.Check(data, time.LoadLocation)
			if err := problems.Err(); err != nil {
				return err
			}
			out, err := encodeDocument(doc, to)
			if err != nil {
				return err
			}
			_, err = a.out.Write(out)
			return err
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "", "document, YAML or JSON; - for standard input")
	c.Flags().StringVar(&to, "to", "json", "json or yaml")
	cobra.CheckErr(c.MarkFlagRequired("file"))
	return c
}

func encodeDocument(doc spec.Document, to string) ([]byte, error) {
	var b bytes.Buffer
	if err := writeJSON(&b, doc); err != nil {
		return nil, err
	}
	switch to {
	case "json":
		return b.Bytes(), nil
	case "yaml":
		return yaml.JSONToYAML(b.Bytes())
	}
	return nil, fmt.Errorf("--to %q: want json or yaml", to)
}

func (a *app) specSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of retention policies, for editors", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { _, err := a.out.Write(spec.PolicySchema()); return err },
	}
}
