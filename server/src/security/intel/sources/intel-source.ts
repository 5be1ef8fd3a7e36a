/** KEV and EPSS files hold all that their source knows; OSV comes record by record. */
export type SourceName = 'kev' | 'epss' | 'osv'

/** What a file says of itself. */
export type SourceFacts = { version: string | null; as_of: Date }

/** How many records an import changed. */
export type Changes = { added: number; changed: number; removed: number }

/** What an import did, with the day that the source is as of now. */
export type ImportOutcome = Changes & {
  as_of: string
  /** How many the file holds. */
  records: number
  unchanged: number
}
