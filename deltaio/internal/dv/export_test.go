package dv

// For the fuzz test, which must reach the decoder without a checksum.
var (
	Decode = decode
	Encode = encode
)
