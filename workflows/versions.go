package workflows

// Behaviour versions (workflow.GetVersion), newest last: change ID, date, reason,
// and when the old branch may go. None yet: the first release has one behaviour.
