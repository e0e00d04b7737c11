package sample

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Sessions describes bronze.sessions: web sessions of half a year, in one load
// and without partitions.
type Sessions struct {
	Rows  int       // 0: 100,000
	Until time.Time // the last day; its clock time does not matter
	Seed  uint64
}

const (
	defaultSessions = 100_000
	sessionDays     = 180
)

func sessionSchema() *schema.Struct {
	return &schema.Struct{Fields: []schema.Field{
		{Name: "id", Type: schema.Long, Nullable: false},
		{Name: "started_at", Type: schema.Timestamp, Nullable: true},
		{Name: "visitor", Type: schema.String, Nullable: true},
		{Name: "status", Type: schema.String, Nullable: true},
	}}
}

// Write creates the table and fills it.
func (x Sessions) Write(ctx context.Context, s storage.Store, env deltaio.Env) error {
	if x.Rows == 0 {
		x.Rows = defaultSessions
	}
	t, err := deltaio.Create(ctx, s, env, deltaio.CreateOptions{Schema: sessionSchema(), Name: "sessions", Description: "Web sessions"})
	if err != nil {
		return err
	}
	_, err = deltaio.Append(ctx, t, deltaio.AppendOptions{}, x.batches())
	return err
}

func (x Sessions) batches() iter.Seq2[arrow.Record, error] {
	rnd := rand.New(rand.NewPCG(x.Seed, 7))
	y, m, d := x.Until.Date()
	first := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 1-sessionDays)
	return Batches(sessionSchema(), x.Rows, func(b *array.RecordBuilder, i int) {
		at := first.AddDate(0, 0, i*sessionDays/x.Rows).UnixMicro() + rnd.Int64N(86_400_000_000)
		b.Field(0).(*array.Int64Builder).Append(int64(i) + 1)
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(at))
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("visitor-%05d", rnd.IntN(10_000)))
		b.Field(3).(*array.StringBuilder).Append(statuses[min(rnd.IntN(10), 2)]) // most are open
	})
}
