import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { shiplock, temporaryDirectory } from './support/program.ts'
import { sendJson, startScriptedServer } from './support/scripted-server.ts'
import { shiplockOnTerminal } from './support/terminal.ts'

const BYTES = 8 * 1024 * 1024
/** A few frames. */
const STORED_AFTER_MS = 400
const directory = temporaryDirectory()
const FILES = ['first.sarif', 'second.sarif'].map((name, index) => {
  const path = join(directory, name)
  writeFileSync(path, Buffer.alloc(BYTES, `${index}`))
  return path
})
const COUNTS = {
  findings: 1,
  created: 1,
  updated: 0,
  unchanged: 0,
  resolved: 0,
  components: 0,
  openBySeverity: { critical: 0, high: 1, medium: 0, low: 0 },
}

/** A server that stores a file so slowly that its bar is shown. */
const server = await startScriptedServer(({ method, path, body }, response) => {
  const upload = { id: 'a'.repeat(32), filename: 'x.sarif', counts: COUNTS, warnings: [], error: null }
  if (method === 'PUT') return void setTimeout(() => response.writeHead(200).end(), STORED_AFTER_MS)
  if (path.endsWith('/complete'))
    return sendJson(response, 200, { data: { upload: { ...upload, status: 'finished' } } })
  const { filename } = JSON.parse(body)
  sendJson(response, 201, {
    data: { upload: { ...upload, filename, status: 'pending' }, put: { url: `${server.url}/put`, headers: {} } },
  })
})
const ENV = { SHIPLOCK_URL: server.url, SHIPLOCK_KEY: 'shl_live_x' }
const ARGS = ['upload', ...FILES, '--repository', 'acme/shop']

const ESCAPE = '\u001b['
/** The sequences that the program uses: up, clear the line, clear below. */
const SEQUENCE = /^(?:(\d+)A|(K|J))/

/** The lines of a terminal after all that was written to it. */
function shownBy(screen: string): string[] {
  const lines = ['']
  let [row, column] = [0, 0]
  for (let at = 0; at < screen.length; at++) {
    const line = lines[row] ?? ''
    const char = screen[at] as string
    const [sequence, up] = (screen.startsWith(ESCAPE, at) && SEQUENCE.exec(screen.slice(at + ESCAPE.length))) || []
    if (sequence !== undefined) {
      at += ESCAPE.length + sequence.length - 1
      if (up) row -= Number(up)
      else lines[row] = line.slice(0, column)
      if (sequence === 'J') lines.length = row + 1
    } else if (char === '\r') column = 0
    else if (char === '\n') lines[++row] ??= ''
    else lines[row] = line.slice(0, column).padEnd(column) + char + line.slice(++column)
  }
  return lines
}

test('on a terminal, a bar for each file and a total, overwritten in place, and lines that stay', async () => {
  const { code, screen } = await shiplockOnTerminal(ARGS, { env: ENV })
  assert.equal(code, 0, screen)
  assert.match(screen, /first\.sarif +\[[#-]+\] +\d+% of 8\.0 MiB/)
  assert.match(screen, /total \(\d of 2 files\) +\[[#-]+\] +\d+% of 16\.0 MiB/)
  const shown = shownBy(screen).filter((line) => line.trim() !== '')
  assert.deepEqual(
    shown
      .slice(0, 2)
      .map((line) => line.replace(/.*(first|second)/, '$1'))
      .sort(),
    ['first.sarif: 8.0 MiB stored', 'second.sarif: 8.0 MiB stored'],
  )
  assert.deepEqual(
    shown.slice(2),
    ['first.sarif', 'second.sarif'].map(() =>
      'x.sarif: 1 findings; 1 new, 0 changed, 0 fixed; open: 0 critical, 1 high, 0 medium, 0 low'.slice(0, 200),
    ),
  )
})

test('on a narrow terminal, no line is longer than the terminal', async () => {
  const { code, screen } = await shiplockOnTerminal(ARGS, { env: ENV, columns: 20 })
  assert.equal(code, 0, screen)
  const bars = screen
    .replaceAll(ESCAPE, '\n\n')
    .split(/[\r\n]/)
    .filter((line) => /^ *\d+% /.test(line))
  assert.ok(bars.length > 0, screen)
  for (const bar of bars) assert.ok(bar.length < 20, bar)
})

test('in a CI, plain lines: no control characters', async () => {
  const { code, stderr } = await shiplock(ARGS, { env: ENV })
  assert.equal(code, 0, stderr)
  assert.deepEqual(
    stderr
      .trim()
      .split('\n')
      .sort()
      .map((line) => line.replace(/.*(first|second)/, '$1')),
    ['first.sarif: 8.0 MiB stored', 'second.sarif: 8.0 MiB stored'],
  )
})

test('--quiet: nothing, on a terminal too', async () => {
  const { code, screen } = await shiplockOnTerminal([...ARGS, '--quiet'], { env: ENV })
  assert.equal(code, 0, screen)
  assert.ok(!screen.includes(ESCAPE) && !screen.includes('MiB'), screen)
})

test('130: Ctrl-C leaves a clean line', async () => {
  const stuck = await startScriptedServer(({ method }, response) => {
    if (method === 'PUT') return
    sendJson(response, 201, {
      data: { upload: { id: 'a'.repeat(32), status: 'pending' }, put: { url: `${stuck.url}/put`, headers: {} } },
    })
  })
  const { code, screen } = await shiplockOnTerminal(ARGS, {
    env: { ...ENV, SHIPLOCK_URL: stuck.url },
    typed: [{ after: 'total', type: '\u0003' }],
  })
  assert.equal(code, 130, screen)
  assert.ok(screen.endsWith('\r\n'), JSON.stringify(screen.slice(-200)))
  assert.equal(shownBy(screen).at(-1), '')
  assert.match(shownBy(screen).at(-2) ?? '', /^total/)
})
