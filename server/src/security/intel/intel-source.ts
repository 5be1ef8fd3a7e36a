/** A file that is all that its source knows, or a source of single records. */
export type SourceName = 'kev' | 'epss' | 'osv'

/** What a file says of itself. */
export type SourceFacts = { version: string | null; as_of: Date }
