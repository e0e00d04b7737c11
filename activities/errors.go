package activities

// Types of the application errors that activities return. Only ErrorConflict and
// ErrorUnavailable are retried.
const (
	// ErrorRefused: the request must not be carried out; nothing was touched.
	ErrorRefused = "Refused"
	// ErrorUnsupported: a feature of the table that we do not handle.
	ErrorUnsupported = "Unsupported"
	// ErrorConflict: other writers were in the way; plan again.
	ErrorConflict = "Conflict"
	// ErrorFenced: the step was undone by its run; this attempt came too late.
	ErrorFenced = "Fenced"
	// ErrorHalt: a person must look before anything goes on.
	ErrorHalt = "Halt"
	// ErrorUnavailable: a store or server did not answer.
	ErrorUnavailable = "Unavailable"
)
