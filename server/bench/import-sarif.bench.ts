import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Benchmark, interleave, type Round } from './benchmark.ts'
import { importReport } from './import-report.ts'
import { MANY_FILES, sarifReport } from './sarif-report.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 3
const FEW = 10_000
const MANY = 100_000

/** A SARIF report, from the complete call until it is finished. */
export const importSarif: Benchmark<Setting>[] = [
  {
    name: 'import of 100,000 results',
    about: 'beside JSON.parse of the whole file and COPY of the same rows into a table without indexes',
    unit: 'ms',
    bar: { of: 'ratio', atMost: 2.5 },
    measure: (setting) => firstImports(setting, 'many', sarifReport(MANY)),
  },
  {
    name: 'import of 100,000 results of many files',
    about: 'the same with 45,000 files in 900 folders and 200 rules, and equal texts',
    unit: 'ms',
    bar: { of: 'ratio', atMost: 2.5 },
    measure: (setting) => firstImports(setting, 'scattered', sarifReport(MANY, MANY_FILES)),
  },
  {
    name: 'the same 100,000 results again',
    about: 'in other bytes, beside their first import; no finding is written',
    unit: 'ms',
    bar: { of: 'ratio', atMost: 0.4 },
    async measure({ ours, sql }) {
      const report = sarifReport(MANY)
      const rounds: Round[] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        const repository = `acme/again-${round}`
        const first = await importReport(ours, report, repository)
        const before = await newestWrite(sql)
        const again = await importReport(ours, Buffer.concat([report, Buffer.from('\n')]), repository)
        if ((await newestWrite(sql)) !== before) throw new Error('the second import wrote findings')
        rounds.push({ ours: again, bare: first })
      }
      return rounds
    },
  },
  {
    name: 'import of 10,000 results',
    about: 'ten of them, beside one of 100,000: what a result costs must not depend on how many there are',
    unit: 'ms',
    bar: { of: 'ratio', atMost: 1.3 },
    async measure({ ours }) {
      const [few, many] = [sarifReport(FEW), sarifReport(MANY)]
      const ten = async (round: number) => {
        let ms = 0
        for (let nth = 0; nth < MANY / FEW; nth += 1) ms += await importReport(ours, few, `acme/few-${round}-${nth}`)
        return ms
      }
      return interleave(ROUNDS, ten, (round) => importReport(ours, many, `acme/beside-few-${round}`))
    },
  },
]

/** Each into a repository of its own. */
async function firstImports(setting: Setting, name: string, report: Buffer): Promise<Round[]> {
  const copy = await bareImport(setting, report)
  return interleave(ROUNDS, (round) => importReport(setting.ours, report, `acme/${name}-${round}`), copy)
}

async function bareImport({ bare, directory }: Setting, report: Buffer): Promise<() => Promise<number>> {
  const file = join(directory, 'report.sarif')
  await writeFile(file, report)
  return async () => {
    const startedAt = performance.now()
    const response = await fetch(`${bare.url}/import?file=${encodeURIComponent(file)}`, { method: 'POST' })
    if (!response.ok) throw new Error(`the baseline answered ${response.status}`)
    return performance.now() - startedAt
  }
}

/** The last transaction that wrote a row of findings. */
async function newestWrite(sql: Setting['sql']): Promise<string> {
  const [row] = await sql<[{ newest: string }]>`select max(xmin::text::bigint)::text as newest from findings`
  return row.newest
}
