import type { KnownMigrations, Mend, Migration } from './read-migrations.ts'

/** Names and checksums of the migrations that a database has. */
export type RecordedMigrations = ReadonlyMap<string, string>

/** A migration to apply, or one of which the database has an earlier version. */
export type Step = { migration: Migration; mend: Mend | null }

/** The database was migrated by a newer version of the program. */
export class NewerDatabaseError extends Error {
  constructor(unknown: readonly string[], newestKnown: string) {
    const [newest = '', others] = [unknown.at(-1), unknown.length - 1]
    const more = others > 0 ? ` and ${others} more` : ''
    super(
      `The database is newer than this program: it has the schema ${schemaOf(newest)} (${newest}${more}), and this ` +
        `program knows up to ${schemaOf(newestKnown)}. Run the version of Shiplock that migrated it, or a newer one; ` +
        'to go back, restore a backup from before the upgrade.',
    )
  }
}

/** What has to be done, in order. Throws if a file was changed after it was applied. */
export function planMigrations({ migrations, mends }: KnownMigrations, recorded: RecordedMigrations): Step[] {
  return migrations.flatMap((migration): Step[] => {
    const checksum = recorded.get(migration.name)
    if (checksum === migration.checksum) return []
    const mend = mends.get(migration.name)
    if (mend && recordedVersions(mend, recorded).length > 0) return [{ migration, mend }]
    if (checksum === undefined) return [{ migration, mend: null }]
    throw new Error(`Migration ${migration.name} was changed after it was applied. Add a new file instead.`)
  })
}

/** The migrations of the database that this program does not know, in order. */
export function unknownMigrations({ migrations, mends }: KnownMigrations, recorded: RecordedMigrations): string[] {
  const known = new Set(migrations.map(({ name }) => name))
  for (const mend of mends.values()) for (const { name } of recordedVersions(mend, recorded)) known.add(name)
  return [...recorded.keys()].filter((name) => !known.has(name)).sort()
}

/** Throws `NewerDatabaseError` if the database has migrations that this program does not know. */
export function refuseNewer(known: KnownMigrations, recorded: RecordedMigrations): void {
  const unknown = unknownMigrations(known, recorded)
  if (unknown.length > 0) throw new NewerDatabaseError(unknown, known.migrations.at(-1)?.name ?? '')
}

function recordedVersions({ earlier }: Mend, recorded: RecordedMigrations) {
  return earlier.filter(({ name, checksum }) => recorded.get(name) === checksum)
}

/** `0076` of `0076_compliance_result_filters.sql`. */
function schemaOf(name: string): string {
  return name.split('_')[0] ?? name
}
