import { readFile } from 'node:fs/promises'
import { importReport } from './import-report.ts'
import { sarifReport } from './sarif-report.ts'
import { withSetting } from './setting.ts'
const DDL = await readFile(new URL('../migrations/0020_finding_filters.sql', import.meta.url), 'utf8')
import { readdirSync, readFileSync } from 'node:fs'
/** CPU seconds of the backends of this cluster and of the descendants of this process. */
async function cpu(sql: any): Promise<{ pg: number; node: number }> {
  const pids = new Set((await sql`select pid from pg_stat_activity`).map((r: any) => Number(r.pid)))
  const stats = new Map<number, { ppid: number; cpu: number }>()
  for (const name of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(name)) continue
    try {
      const f = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]!.split(' ')
      stats.set(Number(name), { ppid: Number(f[1]), cpu: (Number(f[11]) + Number(f[12])) / 100 })
    } catch {}
  }
  let pg = 0, node = 0
  const mine = (pid: number): boolean => { let p = pid; for (let i = 0; i < 20 && p > 1; i += 1) { if (p === process.pid) return true; p = stats.get(p)?.ppid ?? 0 } return false }
  for (const [pid, { cpu: c }] of stats) { if (pids.has(pid)) pg += c; else if (mine(pid)) node += c }
  return { pg, node }
}
await withSetting(async ({ ours, sql }) => {
  const report = sarifReport(100_000)
  const without = async () => { await sql.unsafe('alter table findings drop column facet; drop function finding_facet(text, text, text)').simple() }
  const withIt = async () => { await sql.unsafe(DDL).simple() }
  let has = true
  const order = process.argv[2] ?? 'abbaabba'
  const times: Record<string, number[]> = { a: [], b: [] }
  await importReport(ours, sarifReport(20_000), 'acme/warm')
  for (const [i, c] of [...order].entries()) {
    if (c === 'a' && has) { await without(); has = false }
    if (c === 'b' && !has) { await withIt(); has = true }
    await sql.unsafe('truncate findings, security_issues cascade').simple()
    await sql.unsafe('checkpoint').simple()
    const c0 = await cpu(sql)
    const t = await importReport(ours, report, `acme/r${i}`)
    const c1 = await cpu(sql)
    const [pg, node] = [c1.pg - c0.pg, c1.node - c0.node]
    times[c]!.push(pg + node)
    console.log(c === 'a' ? 'without' : 'with   ', 'wall', Math.round(t), 'cpu pg', pg.toFixed(2), 'node', node.toFixed(2))
  }
  const median = (x: number[]) => [...x].sort((p, q) => p - q)[x.length >> 1]
  console.log(times, 'ratio of medians', median(times.b!)! / median(times.a!)!, 'of minima', Math.min(...times.b!) / Math.min(...times.a!))
})
