import type { Migration } from './read-migrations.ts'

/** Names and checksums of the migrations that a database has. */
export type RecordedMigrations = ReadonlyMap<string, string>

/** A migration to apply. A baseline whose files the database has is only recorded (`isInPlace`). */
export type Step = { migration: Migration; isInPlace: boolean }

/** The database was migrated by a newer version of the program. */
export class NewerDatabaseError extends Error {
  constructor(unknown: readonly string[], newestKnown: string) {
    const [newest = '', others] = [unknown.at(-1), unknown.length - 1]
    const more = others > 0 ? ` and ${others} more` : ''
    super(
      `The database is newer than this program: it has the schema ${getSchemaNumber(newest)} (${newest}${more}), and this ` +
        `program knows up to ${getSchemaNumber(newestKnown)}. Run the version of Shiplock that migrated it, or a newer one; ` +
        'to go back, restore a backup from before the upgrade.',
    )
  }
}

/** The database has a part of the files that a baseline replaces. */
export class TooOldDatabaseError extends Error {
  constructor(baseline: string) {
    super(
      `The database has an older schema than ${baseline} can take over. Run "migrate" of the last version before this ` +
        'one on it first, or restore a backup from after that.',
    )
  }
}

/** What has to be done, in order. Throws if a file was changed after it was applied. */
export function selectMigrationSteps(known: readonly Migration[], recorded: RecordedMigrations): Step[] {
  return known.flatMap((migration): Step[] => {
    const checksum = recorded.get(migration.name)
    if (checksum === migration.checksum) return []
    if (checksum !== undefined)
      throw new Error(`Migration ${migration.name} was changed after it was applied. Add a new file instead.`)
    return [{ migration, isInPlace: hasReplaced(migration, recorded) }]
  })
}

/** Throws `TooOldDatabaseError` if the database has only some of the files. */
function hasReplaced({ name, replaces }: Migration, recorded: RecordedMigrations): boolean {
  const present = replaces.filter((file) => recorded.get(file.name) === file.checksum)
  if (present.length > 0 && present.length < replaces.length) throw new TooOldDatabaseError(name)
  return present.length > 0
}

/** Throws `NewerDatabaseError` if the database has migrations that this program does not know. */
export function checkIsNotNewer(known: readonly Migration[], recorded: RecordedMigrations): void {
  const names = new Set(known.flatMap(({ name, replaces }) => [name, ...replaces.map((file) => file.name)]))
  const unknown = [...recorded.keys()].filter((name) => !names.has(name)).sort()
  if (unknown.length > 0) throw new NewerDatabaseError(unknown, known.at(-1)?.name ?? '')
}

/** `0076` of `0076_compliance_result_filters.sql`. */
function getSchemaNumber(name: string): string {
  return name.split('_')[0] ?? name
}
