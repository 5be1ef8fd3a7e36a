import type { Services } from '../../services.ts'
import { noteProgress } from './upload-state.store.ts'

const PROGRESS_EVERY_MS = 1000

export type UploadId = { org_id: string; id: string }

/** Tells those who wait how many findings were read so far, on another connection and not too often. */
export class ParsingProgress {
  readonly #services: Services
  readonly #key: UploadId
  #findings = 0
  #toldAt: number
  #telling: Promise<void> = Promise.resolve()

  constructor(services: Services, key: UploadId) {
    this.#services = services
    this.#key = key
    this.#toldAt = services.clock.now().getTime()
  }

  add(findings: number): void {
    this.#findings += findings
    const { sql, clock, log } = this.#services
    const now = clock.now()
    if (now.getTime() - this.#toldAt < PROGRESS_EVERY_MS) return
    this.#toldAt = now.getTime()
    this.#telling = noteProgress(sql, this.#key.org_id, this.#key.id, this.#findings, now).catch((err) =>
      log.warn({ err, upload_id: this.#key.id }, 'progress was not noted'),
    )
  }

  settled(): Promise<void> {
    return this.#telling
  }
}
