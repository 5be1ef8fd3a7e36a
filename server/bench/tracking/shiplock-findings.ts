import { importReport, type Server } from '../import-report.ts'
import type { Shiplock } from '../setting.ts'
import { createOrganization } from '../stored-organizations.ts'
import type { Ids } from './identity-score.ts'
import { inPlaceOrder, type Place, type ReportedResult, relativePath } from './reported-result.ts'
import type { History, ScanReport } from './tracking-data.ts'

const SLUG_MAX = 63
const MESSAGE_COMPARED = 200

/** A finding that the newest report of its scanner contains. */
export type StoredFinding = Place & { id: string; issueId: string; description: string }

/** An organization of its own with one repository, to which reports are uploaded as CI does. */
export class UploadedRepository {
  readonly #server: Server
  readonly #sql: Shiplock['sql']
  readonly #orgId: string
  readonly #name: string
  readonly #checkout: string

  private constructor({ sql, ours }: Shiplock, organization: { id: string; key: string }, history: History) {
    this.#server = { url: ours.url, key: organization.key }
    this.#sql = sql
    this.#orgId = organization.id
    this.#name = history.repository.replace('__', '/')
    this.#checkout = history.checkout
  }

  /** `purpose` distinguishes the organizations of one repository. */
  static async create(shiplock: Shiplock, purpose: string, history: History): Promise<UploadedRepository> {
    const slug = `${purpose}-${history.repository}`
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, SLUG_MAX)
    return new UploadedRepository(shiplock, await createOrganization(shiplock.sql, slug), history)
  }

  async upload(tool: string, { commit, sarif }: ScanReport): Promise<void> {
    const report = Buffer.from(JSON.stringify(sarif))
    await importReport(this.#server, report, { repository: this.#name, category: tool, commitSha: commit })
  }

  /** What the newest report of the scanner contains, as it is stored. */
  async findings(tool: string): Promise<StoredFinding[]> {
    const rows = await this.#sql<StoredFinding[]>`
      select finding.id, finding.issue_id as "issueId", coalesce(finding.rule_id, '') as rule,
        coalesce(finding.path, '') as path, finding.start_line as "startLine", finding.end_line as "endLine",
        finding.start_column as "startColumn", finding.end_column as "endColumn",
        coalesce(finding.description, '') as description
      from findings finding
      join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
      where finding.org_id = ${this.#orgId}
        and stream.category = ${tool}
        and finding.last_seen_at is null
      order by finding.start_column nulls first, finding.end_column nulls first, finding.id`
    return rows.map((row) => ({ ...row, path: relativePath(row.path, this.#checkout) }))
  }

  /** The id of each result's finding; null if none is at its place. */
  async ids(tool: string, { results }: ScanReport): Promise<Ids> {
    const stored = Map.groupBy(await this.findings(tool), lineKey)
    const ids = results.map((): string | null => null)
    for (const index of inPlaceOrder(results)) {
      const result = results[index] as ReportedResult
      const there = stored.get(lineKey(result)) ?? []
      const own = there.findIndex((finding) => isOf(finding, result))
      const [finding] = there.splice(Math.max(own, 0), 1)
      ids[index] = finding?.id ?? null
    }
    return ids
  }
}

/** Findings of one rule at the same columns are told apart by their messages. */
function isOf(finding: StoredFinding, { startColumn, endColumn, message }: ReportedResult): boolean {
  const isAtColumns = finding.startColumn === startColumn && finding.endColumn === endColumn
  return isAtColumns && finding.description.startsWith(message.trim().slice(0, MESSAGE_COMPARED))
}

/** Findings of one rule on one line are told apart by their order in the line. */
function lineKey({ rule, path, startLine }: Place): string {
  return JSON.stringify([rule, path, startLine])
}
