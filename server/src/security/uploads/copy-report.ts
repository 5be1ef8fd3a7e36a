import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import type { ReportFormat } from '../formats/catalogue.ts'
import { readReport } from '../formats/read-report.ts'
import type { ParsedFinding, ReportSource, ReportSummary } from '../formats/report/parsed-report.ts'
import { createContextHasher } from '../issues/grouping/grouping-facts.ts'
import { KnownRules } from '../issues/grouping/known-rules.ts'
import { copyIncoming, type Incoming } from '../reconcile/incoming.store.ts'
import { ReportMembers } from '../reconcile/report-members.ts'
import { requireKnownRepository } from './known-repository.store.ts'
import { type UploadKey, type UploadToRead, updateProgress } from './upload-state.store.ts'

const PROGRESS_EVERY_MS = 1000

type UploadToCopy = UploadKey &
  Pick<UploadToRead, 'repository_no' | 'tracked'> & { format: ReportFormat; source: ReportSource }

/** Streams the findings of a report into the transaction while the report is being parsed. */
export async function copyReport(
  services: Services,
  tx: Tx,
  upload: UploadToCopy,
): Promise<{ incoming: Incoming; report: ReportSummary }> {
  const progress = new ParsingProgress(services, upload)
  const rules = new KnownRules(services.ruleMap)
  const members = new ReportMembers(upload.tracked, createContextHasher(services.contextKey), rules)
  const copy = await copyIncoming(tx, members)
  try {
    const onFindings = async (findings: ParsedFinding[]) => {
      await copy.write(findings)
      progress.add(findings.length)
    }
    // On another connection, because the transaction is busy with the copy.
    const readRepository = () => requireKnownRepository(services.sql, upload.org_id, upload.repository_no)
    const report = await readReport(upload.source, upload.format, onFindings, readRepository)
    return { incoming: await copy.end(), report }
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  } finally {
    await progress.settled()
  }
}

/** Stores how many findings were parsed so far, on another connection and at most once a second. */
class ParsingProgress {
  readonly #services: Services
  readonly #upload: UploadKey
  #findings = 0
  #storedAt: number
  #storing: Promise<void> = Promise.resolve()

  constructor(services: Services, upload: UploadKey) {
    this.#services = services
    this.#upload = upload
    this.#storedAt = services.clock.now().getTime()
  }

  add(findings: number): void {
    this.#findings += findings
    const { sql, clock, log } = this.#services
    const { id } = this.#upload
    const now = clock.now()
    if (now.getTime() - this.#storedAt < PROGRESS_EVERY_MS) return
    this.#storedAt = now.getTime()
    this.#storing = updateProgress(sql, this.#upload, this.#findings, now).catch((err) =>
      log.warn({ err, upload_id: id }, 'Could not store the progress of an upload'),
    )
  }

  settled(): Promise<void> {
    return this.#storing
  }
}
