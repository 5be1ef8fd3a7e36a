/** What came off the wire. A test looks at it freely: where it guesses wrong, it fails. */
// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, for all tests
export type Json = any
