package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/lakewarden/lakewarden/activities"
)

func TestDoctor_searchAttributes_thatAreMissingAreANote(t *testing.T) {
	have := map[string]enumspb.IndexedValueType{}
	for _, name := range activities.SearchAttributes {
		have[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	require.Equal(t, stateOK, judgeAttributes(have, nil, "default").State)

	have[activities.AttrRun] = enumspb.INDEXED_VALUE_TYPE_TEXT
	delete(have, activities.AttrTable)
	f := judgeAttributes(have, nil, "sales")
	require.Equal(t, stateNote, f.State)
	require.Contains(t, f.Detail, "missing: LakewardenTable, LakewardenRun; runs work without them")
	require.Equal(t, "temporal operator search-attribute create --namespace sales --name LakewardenTable --type Keyword --name LakewardenRun --type Keyword", f.Do)

	f = judgeAttributes(nil, errors.New("no rights"), "sales")
	require.Equal(t, stateNote, f.State)
	require.Contains(t, f.Detail, "no rights")
	require.NotEmpty(t, f.Do)
}

func TestDoctor_notesAlone_exitWithZero(t *testing.T) {
	ok, note, fail := finding{What: "a", State: stateOK}, finding{What: "b", State: stateNote, Do: "mend"}, finding{What: "c", State: stateFail}
	require.NoError(t, verdict([]finding{ok, note}))
	require.Error(t, verdict([]finding{ok, fail, note}))
	var out bytes.Buffer
	printFindings(&out, []finding{ok, note, fail})
	require.Equal(t, "ok    a: \nnote  b: \n      → mend\nFAIL  c: \n", out.String())
}
