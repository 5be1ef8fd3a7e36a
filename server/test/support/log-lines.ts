import { EventEmitter, once } from 'node:events'
import pino from 'pino'

type LogLine = { level: number; msg: string }

/** A log of all levels that keeps its lines. */
export function logLines() {
  const lines: LogLine[] = []
  const written = new EventEmitter()
  const write = (text: string) => {
    lines.push(JSON.parse(text))
    written.emit('line')
  }
  return {
    log: pino({ level: 'debug', base: null }, { write }),
    lines,
    nextLine: async (): Promise<LogLine> => {
      if (lines.length === 0) await once(written, 'line')
      return lines[0] as LogLine
    },
  }
}
