import { defineCounter, defineHistogram } from '../../platform/telemetry/metrics.ts'
import type { ReportSource } from '../formats/report/parsed-report.ts'

const seconds = defineHistogram(
  'shiplock_report_duration_seconds',
  'Time to read a report and to store what it says, by format and outcome: finished, refused or interrupted.',
  ['format', 'outcome'],
  [0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900],
)
const bytes = defineCounter('shiplock_report_bytes_total', 'Bytes of reports that were read, once for each pass.', [
  'format',
])

/** A source that counts what is read from it, and the function that notes the end. */
export function measureReading(source: ReportSource) {
  const startedAt = performance.now()
  let read = 0
  async function* count(): AsyncIterable<Uint8Array> {
    for await (const chunk of source.open()) {
      read += chunk.byteLength
      yield chunk
    }
  }
  return {
    source: { ...source, open: count },
    end: (format: string, outcome: 'finished' | 'refused' | 'interrupted') => {
      seconds.observe({ format, outcome }, (performance.now() - startedAt) / 1000)
      bytes.inc({ format }, read)
    },
  }
}
