import type { ReadStream } from 'node:tty'
import { Interrupted } from '@shiplock/command-line/command'
import { UsageError } from '@shiplock/command-line/options'

const BYTES_MAX = 64 * 1024

/**
 * Reads one line from standard input. On a terminal, asks for it and does not show what is typed.
 * Throws a `UsageError` if the line is empty, and `Interrupted` after Ctrl-C.
 */
export async function readSecret(stdin: NodeJS.ReadStream, ask: () => void): Promise<string> {
  const line = stdin.isTTY ? await readHidden(stdin as ReadStream, ask) : await readLine(stdin)
  const secret = line.trim()
  if (secret === '') throw new UsageError('Standard input holds no key')
  if (/[\s\p{Cc}]/u.test(secret))
    throw new UsageError('The key on standard input must not contain spaces or control characters')
  return secret
}

async function readLine(stdin: NodeJS.ReadStream): Promise<string> {
  let text = ''
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += chunk
    if (text.trimStart().includes('\n') || text.length > BYTES_MAX) break
  }
  return text.trimStart().split('\n')[0] ?? ''
}

const [CTRL_C, CTRL_D, DELETE] = ['\u0003', '\u0004', '\u007f']
const ENDS = ['\r', '\n', CTRL_D]
const BACKSPACES = ['\b', DELETE]

/** In raw mode, the terminal neither shows nor interprets what is typed. */
async function readHidden(stdin: ReadStream, ask: () => void): Promise<string> {
  let text = ''
  stdin.setRawMode(true)
  try {
    ask()
    for await (const chunk of stdin.setEncoding('utf8')) {
      for (const char of chunk as string) {
        if (char === CTRL_C) throw new Interrupted('SIGINT')
        if (ENDS.includes(char)) return text
        text = BACKSPACES.includes(char) ? text.slice(0, -1) : text + char
      }
    }
    return text
  } finally {
    stdin.setRawMode(false)
  }
}
