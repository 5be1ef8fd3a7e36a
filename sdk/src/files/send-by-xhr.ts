import type { Answer } from '../http/error-body.ts'
import { unreachable } from '../http/errors.ts'
import { type PutRequest, toBlob } from './source.ts'

/** The part of XMLHttpRequest that is used here. Its type is missing outside of browsers. */
type Xhr = {
  readonly status: number
  readonly statusText: string
  readonly responseText: string
  readonly upload: { onprogress: ((event: { loaded: number }) => void) | null }
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getResponseHeader(name: string): string | null
  send(body: Blob): void
  abort(): void
}
const platform = globalThis as { XMLHttpRequest?: new () => Xhr }

export function hasXhr(): boolean {
  return platform.XMLHttpRequest !== undefined
}

/** Sends the file with XMLHttpRequest, which reads a Blob from disk and reports progress. */
export async function sendByXhr({ url, headers, source, onSent, signal }: PutRequest): Promise<Answer> {
  const blob = await toBlob(source)
  signal.throwIfAborted()
  const xhr = new (platform.XMLHttpRequest as new () => Xhr)()
  const abort = () => xhr.abort()
  signal.addEventListener('abort', abort)
  try {
    return await new Promise((resolve, reject) => {
      xhr.upload.onprogress = ({ loaded }) => onSent(loaded)
      xhr.onload = () => resolve(toAnswer(url, xhr))
      xhr.onerror = () => reject(unreachable(url, 'the browser does not state the reason'))
      xhr.onabort = () => reject(signal.reason)
      xhr.open('PUT', url)
      for (const [name, value] of Object.entries(headers)) setHeader(xhr, name, value)
      xhr.send(blob)
    })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** A browser sets Content-Length itself and refuses to have it set. */
function setHeader(xhr: Xhr, name: string, value: string): void {
  if (name.toLowerCase() !== 'content-length') xhr.setRequestHeader(name, value)
}

function toAnswer(url: string, xhr: Xhr): Answer {
  const { status, statusText, responseText: text } = xhr
  return { url, status, statusText, header: (name) => xhr.getResponseHeader(name), text }
}
