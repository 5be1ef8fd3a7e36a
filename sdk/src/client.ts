import { type Api, type CallOptions, createApi } from './api.ts'
import type { ReportFile } from './files/put-slots.ts'
import type { Source } from './files/source.ts'
import type { HttpSettings } from './http/json-fetch.ts'
import { RETRY_POLICY, type RetryPolicy } from './http/retry.ts'
import { type ListItem, type ListOptions, type ListPath, list } from './list.ts'
import type { components, operations } from './openapi.ts'
import {
  type ArtifactResult,
  type NewReport,
  type ReportResult,
  type SendReportOptions,
  sendReport,
} from './send-report.ts'
import { type SecurityUpload, type UploadReportOptions, uploadReport } from './upload-report.ts'
import { type DeploymentGate, type OpenedGate, type WaitForGateOptions, waitForGate } from './wait-for-gate.ts'

export const VERSION = '0.1.0'

export type Deployment = components['schemas']['Deployment']
export type DeploymentUpdate = CallOptions<operations['updateDeployment']>['body']

export type ClientOptions = {
  /** The address of the server, with its path if it has one: `https://example.com/shiplock`. */
  url: string
  /** An API key or an OIDC token, or a function that is asked again before every attempt. */
  token: HttpSettings['token']
  /** Replaces the `fetch` of the platform for every request, uploads included. */
  fetch?: typeof globalThis.fetch | undefined
  /** The `User-Agent` header, outside of browsers. */
  userAgent?: string | undefined
  /** Called before the pause that precedes another attempt. */
  onRetry?: HttpSettings['onRetry']
  /** Called once if the server does not know a later field, before the request is repeated without it. */
  onOlderServer?: HttpSettings['onOlderServer']
  /** Ends every request of this client. */
  signal?: AbortSignal | undefined
  /** Changes how often and how long requests are tried. */
  retry?: Partial<RetryPolicy> | undefined
}

export type ShiplockClient = {
  /** The address of the server, without a slash at the end. */
  readonly url: string
  readonly api: Api
  /** Yields the items of every page of a list. */
  list<P extends ListPath>(path: P, options?: ListOptions<P>): AsyncGenerator<ListItem<P>, void, undefined>
  /** Sends a security report and waits until it has been read. */
  uploadReport(source: Source, options: UploadReportOptions): Promise<SecurityUpload>
  /** Stores the report of a job, sends its files and completes them. */
  sendReport(
    runId: string,
    report: NewReport,
    files: ReportFile[],
    options?: SendReportOptions,
  ): Promise<{ report: ReportResult; results: ArtifactResult[] }>
  /** States what has become of a deployment, its version or the URL of what is deployed. */
  updateDeployment(id: string, change: DeploymentUpdate): Promise<Deployment>
  /** Waits until a gate is decided, expired or cancelled. */
  waitForGate(opened: OpenedGate, options?: WaitForGateOptions): Promise<DeploymentGate>
}

/** A client of one Shiplock server. */
export function createClient(options: ClientOptions): ShiplockClient {
  const { token, fetch, onRetry, onOlderServer, signal, userAgent = `shiplock-sdk/${VERSION}` } = options
  const url = baseUrlOf(options.url)
  const policy = { ...RETRY_POLICY, ...options.retry }
  const settings = { token, fetch, onRetry, onOlderServer, signal, policy, userAgent: isBrowser() ? null : userAgent }
  const api = createApi(url, settings)
  const connection = { api, settings }
  return {
    url,
    api,
    list: (path, listOptions) => list(api, path, listOptions),
    uploadReport: (source, uploadOptions) => uploadReport(connection, source, uploadOptions),
    sendReport: (runId, report, files, sendOptions) =>
      sendReport({ ...connection, files, ...sendOptions }, runId, report),
    updateDeployment: async (id, change) => {
      const { data } = await api.PATCH('/v1/deployments/{id}', { params: { path: { id } }, body: change })
      return data.data
    },
    waitForGate: (opened, waitOptions) => waitForGate(connection, opened, waitOptions),
  }
}

/** Throws TypeError if the text is not the address of a server. */
function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new TypeError(`${JSON.stringify(text)} is not the URL of a server. It must begin with https:// or http://.`)
  if (url.username || url.password) throw new TypeError('The URL of the server must not contain a user or a password.')
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '')
}

/** Browsers send their own `User-Agent`. */
function isBrowser(): boolean {
  return 'document' in globalThis || 'WorkerGlobalScope' in globalThis
}
