import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Benchmark, interleave } from './benchmark.ts'
import { importReport } from './import-report.ts'
import { sarifReport } from './sarif-report.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 5
const RESULTS = 10_000

export const importSarif: Benchmark<Setting> = {
  name: 'import of 10,000 results',
  about: 'from the complete call until finished, beside JSON.parse of the whole file and COPY without indexes',
  unit: 'ms',
  bar: null,
  async measure({ ours, bare, directory }) {
    const report = sarifReport(RESULTS)
    const file = join(directory, 'report.sarif')
    await writeFile(file, report)
    const copy = async () => {
      const startedAt = performance.now()
      const response = await fetch(`${bare.url}/import?file=${encodeURIComponent(file)}`, { method: 'POST' })
      if (!response.ok) throw new Error(`the baseline answered ${response.status}`)
      return performance.now() - startedAt
    }
    await importReport(ours, report, 'acme/warm-up')
    await copy()
    return interleave(ROUNDS, (round) => importReport(ours, report, `acme/imported-${round}`), copy)
  },
}
