// Loaded before each test file by the runner: notes the credentials that requests of the tests
// contain, and those that responses give out.
import { noteFields, noteSecret } from './note-secrets.ts'

const send = globalThis.fetch
/** Longer bodies are not searched. */
const BODY_BYTES_MAX = 8 * 2 ** 20

globalThis.fetch = watchedFetch

async function watchedFetch(...args: Parameters<typeof fetch>): Promise<Response> {
  const [, options = {}] = args
  noteHeaders(new Headers(options.headers))
  if (typeof options.body === 'string') noteJson('sent', options.body)
  const response = await send(...args)
  noteCookies(response.headers.getSetCookie())
  if (response.headers.get('content-type')?.includes('json')) await noteBody(response.clone())
  return response
}

function noteHeaders(headers: Headers): void {
  const bearer = /^Bearer (\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  if (bearer) noteSecret('credential', bearer)
  noteCookies((headers.get('cookie') ?? '').split('; '))
}

function noteCookies(cookies: readonly string[]): void {
  for (const cookie of cookies) noteSecret('cookie', /=([^;]*)/.exec(cookie)?.[1] ?? '')
}

/**
 * The test may have cancelled its response, and a copy that nobody reads must not stay in memory.
 * The test waits for the copy, so that an endless body must not be read to its end.
 */
async function noteBody(copy: Response): Promise<void> {
  const text = await readShort(copy).catch(() => null)
  if (text !== null) noteJson('received', text)
}

/** The text of a body; null if it is longer than documents that give out secrets. */
async function readShort({ body }: Response): Promise<string | null> {
  if (body === null) return null
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value)
    size += part.value.length
    if (size <= BODY_BYTES_MAX) continue
    // Half of a split stream is cancelled only when the other half is, too.
    void reader.cancel().catch(() => {})
    return null
  }
  return Buffer.concat(chunks).toString()
}

function noteJson(origin: string, text: string): void {
  try {
    noteFields(origin, JSON.parse(text))
  } catch {
    // Tests also send what is no JSON.
  }
}
