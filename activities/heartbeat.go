package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/lakewarden/lakewarden/deltaio"
)

const (
	// beatEvery keeps beats well below the heartbeat timeout.
	beatEvery = 3 * time.Second
	// stalled is how long an activity may go without progress before it stops
	// beating, so that Temporal gives the work to another attempt.
	stalled = 15 * time.Minute
)

// pulse heartbeats for an activity while it progresses.
type pulse struct {
	mu   sync.Mutex
	last Progress
	at   time.Time
	now  func() time.Time
	quit chan struct{} // the work is done
	done chan struct{} // no beat comes any more
}

// beat starts heartbeating and gives deltaio's surroundings with progress tied
// to it. The caller defers stop, after which no beat comes. A beat under way is
// let finish: cut short, it would be logged as a failure of the server.
func (a *Activities) beat(ctx context.Context, phase string) (deltaio.Env, func()) {
	p := &pulse{now: a.Now, at: a.Now(), last: Progress{Phase: phase}, quit: make(chan struct{}), done: make(chan struct{})}
	go p.run(ctx)
	env := a.env()
	env.Progress = p.progress
	return env, func() { close(p.quit); <-p.done }
}

func (p *pulse) progress(d deltaio.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = p.now()
	p.last = Progress{
		Phase: d.Phase, FilesDone: d.FilesDone, FilesTotal: d.FilesTotal, RowsDone: d.RowsDone,
		BytesDone: d.BytesDone, BytesTotal: d.BytesTotal, At: p.at,
	}
}

func (p *pulse) run(ctx context.Context) {
	defer close(p.done)
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for !p.over(ctx) {
		p.mu.Lock()
		last, idle := p.last, p.now().Sub(p.at)
		p.mu.Unlock()
		if idle < stalled {
			activity.RecordHeartbeat(ctx, last)
		}
		select {
		case <-ctx.Done():
		case <-p.quit:
		case <-tick.C:
		}
	}
}

// over reports that the work is done or cancelled.
func (p *pulse) over(ctx context.Context) bool {
	select {
	case <-p.quit:
		return true
	default:
		return ctx.Err() != nil
	}
}
