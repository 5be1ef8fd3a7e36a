// Loaded before each test file by the runner: notes the credentials that requests of the tests
// contain, and those that responses give out.
import { noteFields, noteSecret } from './note-secrets.ts'

const send = globalThis.fetch

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
 */
async function noteBody(copy: Response): Promise<void> {
  await copy.text().then(
    (text) => noteJson('received', text),
    () => undefined,
  )
}

function noteJson(origin: string, text: string): void {
  try {
    noteFields(origin, JSON.parse(text))
  } catch {
    // Tests also send what is no JSON.
  }
}
