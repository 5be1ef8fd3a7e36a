import { getIDToken } from '@actions/core'
import { createClient, hashSource, putSlots, type ReportFile, type Retry } from '@shiplock/sdk'
import type { Attestation } from './inputs.ts'

/** A report as the ingest protocol takes it (docs/ingest.md), without its files. */
export type Report = {
  job: { name: string; matrix: unknown; instance?: string; runner: string | null }
  name: string
  summary: string | null
  attestations: Attestation[]
  /** Images by digest. */
  subjects?: { name: string; sha256: string; mediaType?: string; platforms?: { sha256: string; platform: string }[] }[]
}

type Upload = { artifactId: string; path: string; url: string; headers: Record<string, string> }

/** The answer to a report. */
export type StoredReport = {
  reportId: string
  url: string
  trusted: boolean
  warnings: string[]
  skipped: { path: string; reason: string }[]
  uploads: Upload[]
}

export type FileResult = { path: string; status: string; reason: string | null }

type Post = (path: string, options: { body: object }) => Promise<{ data: unknown }>

/** Throws an error that tells how to allow OIDC tokens, if the job has none. */
export function requireIdTokens(): void {
  if (process.env.ACTIONS_ID_TOKEN_REQUEST_URL && process.env.ACTIONS_ID_TOKEN_REQUEST_TOKEN) return
  throw new Error(
    [
      'This job cannot request an OIDC token. Add "permissions: id-token: write" to the workflow or to the job:',
      'permissions:\n  contents: read\n  id-token: write',
      'GitHub gives no token to workflows of pull requests from forks.',
    ].join('\n\n'),
  )
}

/** Sends the report of a job with the job's OIDC token. The server takes the run from the token. */
export class Ingest {
  readonly #post: Post
  readonly #onRetry: (retry: Retry) => void

  /** Requests a new token for every try, because tokens live for minutes only. */
  constructor(server: { url: string; audience: string }, onRetry: (retry: Retry) => void) {
    const token = () => getIDToken(server.audience)
    const { api } = createClient({ url: server.url, token, userAgent: 'shiplock-action', onRetry })
    this.#post = api.POST as unknown as Post
    this.#onRetry = onRetry
  }

  async create(report: Report, files: ReportFile[]): Promise<StoredReport> {
    const artifacts = []
    for (const { path, source } of files) {
      artifacts.push({ path, contentType: CONTENT_TYPE, ...(await hashSource(source)) })
    }
    const { data } = await this.#post(REPORTS, { body: { version: 1, ...report, artifacts } })
    return data as StoredReport
  }

  /**
   * Sends the files that the server wants, and returns what became of each. If one cannot be sent, the
   * others are stored before the error is thrown.
   */
  async sendFiles({ reportId, uploads }: StoredReport, files: ReportFile[]): Promise<FileResult[]> {
    if (uploads.length === 0) return []
    const failures = await putSlots(uploads, files, { onRetry: this.#onRetry })
    const results = await this.#complete(reportId, uploads)
    if (failures.length > 0) throw failures[0]
    return results
  }

  async #complete(reportId: string, uploads: Upload[]): Promise<FileResult[]> {
    const body = { artifactIds: uploads.map(({ artifactId }) => artifactId) }
    const { data } = await this.#post(`${REPORTS}/${reportId}/complete`, { body })
    const { results } = data as { results: { artifactId: string; status: string; reason?: string | null }[] }
    return results.map(({ artifactId, status, reason = null }) => ({
      path: uploads.find((slot) => slot.artifactId === artifactId)?.path ?? artifactId,
      status,
      reason,
    }))
  }
}

/** The server takes the type of a file from its contents. */
const CONTENT_TYPE = 'application/octet-stream'
const REPORTS = '/api/ingest/github/reports'
