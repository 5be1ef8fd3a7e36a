import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import {
  buildWholeVersion,
  isOfHost,
  type ListedRun,
  listPipelineRuns,
  listRunVersions,
  type RunFilter,
  type VersionedRun,
} from './pipeline-run.store.ts'
import { listMemberVersions } from './pipeline-run-row.store.ts'

/**
 * Pages of runs as JSON. Most runs of a page were on one before and have not changed since, so the
 * page is read as versions first, and only runs whose version is not kept are read whole
 * (docs/adr/0003-json-from-postgresql.md).
 */
export class RunPages {
  readonly #kept = new KeptRunJson()

  /**
   * One page of runs as they are at `now`, newest first, and one more row when there is a next
   * page.
   */
  async list(db: Db, orgId: string, page: Page, filter: RunFilter): Promise<PageRow<Buffer>[]> {
    const listed = await listRunVersions(db, orgId, page, filter)
    const ofHosts = listed.filter(isOfHost).map(({ id }) => id)
    const versions = await listMemberVersions(db, orgId, ofHosts)
    const runs: ListedRun[] = listed.map((run) => ({ ...run, version: buildWholeVersion(run, versions.get(run.id)) }))
    const json = new Map(runs.map((run) => [run.id, this.#kept.find(orgId, run)]))
    const missing = runs.filter(({ id }) => json.get(id) === undefined).map(({ id }) => id)
    for (const run of await listPipelineRuns(db, orgId, missing, filter.now)) json.set(run.id, this.#keep(orgId, run))
    const rows = runs.flatMap(({ id, created_at }) => {
      const found = json.get(id)
      return found ? [{ id, created_at, json: found }] : []
    })
    // A run that was deleted meanwhile must not make the page look like the last one.
    return rows.length < runs.length ? this.list(db, orgId, page, filter) : rows
  }

  #keep(orgId: string, { json, ...run }: VersionedRun): Buffer {
    const bytes = Buffer.from(json)
    this.#kept.keep(orgId, run, bytes)
    return bytes
  }
}

const BYTES_MAX = 32 * 1024 * 1024

type Version = { id: string; version: string | null }
type Kept = { version: string; json: Buffer }

/** The JSON of runs that were read last, in UTF-8, in this process. */
export class KeptRunJson {
  readonly #runs = new Map<string, Kept>()
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Undefined unless this version of the run is kept. */
  find(orgId: string, { id, version }: Version): Buffer | undefined {
    const kept = this.#runs.get(formatKey(orgId, id))
    return kept?.version === version ? kept.json : undefined
  }

  /** Drops what was kept first if there is no room. A run without a version is not kept. */
  keep(orgId: string, { id, version }: Version, json: Buffer): void {
    if (version === null) return
    this.#drop(formatKey(orgId, id))
    this.#runs.set(formatKey(orgId, id), { version, json })
    this.#bytes += json.length
    for (const key of this.#runs.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#drop(key)
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#runs.get(key)?.json.length ?? 0
    this.#runs.delete(key)
  }
}

function formatKey(orgId: string, id: string): string {
  return `${orgId} ${id}`
}
