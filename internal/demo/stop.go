package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to end: a worker finishes its
// activities first.
const stopTimeout = startTimeout

// StopProcesses ends what a kept demo left up in a folder, waits until it is
// gone, and names it.
func StopProcesses(dir string) (stopped []string, err error) { return stopProcesses(dir, stopTimeout) }

// process is a program of a demo that is up.
type process struct {
	name string
	pid  int
}

// running are the programs of a folder's demo that are up, the worker first.
func running(dir string) (up []process) {
	for _, name := range []string{"worker", "temporal"} {
		data, err := os.ReadFile(filepath.Join(dir, name+".pid"))
		if err != nil {
			continue // none was started here
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && isOurs(pid, name) {
			up = append(up, process{name, pid})
		}
	}
	return up
}

func stopProcesses(dir string, within time.Duration) (stopped []string, err error) {
	for _, p := range running(dir) {
		name, pid := p.name, p.pid
		_ = syscall.Kill(-pid, syscall.SIGTERM) // gone already is fine
		if err := waitFor(context.Background(), "the end of "+name, filepath.Join(dir, name+".log"), within, func(context.Context) error {
			if isOurs(pid, name) {
				return fmt.Errorf("process %d is still there; end it by: kill -9 %d", pid, pid)
			}
			return nil
		}); err != nil {
			return stopped, err
		}
		stopped = append(stopped, fmt.Sprintf("%s (process %d)", name, pid))
	}
	return stopped, nil
}

// isOurs guards against a process number that was given to another program.
func isOurs(pid int, name string) bool {
	command, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil { // it is gone, or the system has no /proc, as macOS
		return byPS(pid, name)
	}
	program, _, _ := strings.Cut(string(command), "\x00")
	return strings.Contains(filepath.Base(program), name)
}

// byPS asks ps, which every Unix has.
func byPS(pid int, name string) bool {
	out, err := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output()
	if err != nil { // there is no such process
		return false
	}
	program := strings.TrimSpace(string(out))
	if strings.HasPrefix(program, "(") || strings.Contains(program, "<defunct>") { // it ended, and its parent has not asked yet
		return false
	}
	return strings.Contains(filepath.Base(program), name)
}
