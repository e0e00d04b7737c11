package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/sample"
)

func (a *app) sampleCommand() *cobra.Command {
	v := sample.Vendas{Seed: 1}
	c := &cobra.Command{
		Use: "sample DIR", Short: "Write a sample lakehouse to try things on: bronze.vendas and bronze.sessions", Args: cobra.ExactArgs(1),
		Long:    "Write bronze.vendas (sales of three years that end today, partitioned by month) and bronze.sessions\n(web sessions of half a year) under a folder. Tables that are there are never written over.",
		Example: "  lakewarden sample lake --rows 200000",
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err == nil {
				err = os.MkdirAll(dir, 0o755)
			}
			if err != nil {
				return err
			}
			s, err := storage.Open(cmd.Context(), dir)
			if err != nil {
				return err
			}
			v.Until = a.now().UTC()
			if err := v.Write(cmd.Context(), storage.Sub(s, filepath.Join("bronze", "vendas")), a.env()); err != nil {
				return fmt.Errorf("bronze.vendas in %s: %w", dir, err)
			}
			sessions := sample.Sessions{Until: v.Until, Seed: v.Seed}
			if err := sessions.Write(cmd.Context(), storage.Sub(s, filepath.Join("bronze", "sessions")), a.env()); err != nil {
				return fmt.Errorf("bronze.sessions in %s: %w", dir, err)
			}
			return a.print(map[string]any{"root": dir, "tables": []string{"bronze.vendas", "bronze.sessions"}}, func(w io.Writer) {
				fmt.Fprintf(w, "wrote bronze.vendas and bronze.sessions under %s\n", dir)
			})
		},
	}
	c.Flags().IntVar(&v.Rows, "rows", 0, "rows of bronze.vendas (default 2,000,000)")
	return c
}
