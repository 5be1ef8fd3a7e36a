/** What came off the wire. A test looks at it freely: where it guesses wrong, it fails. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where that is said
export type Json = any
