import { readFileSync } from 'node:fs'
import { importReport } from './import-report.ts'
import { sarifReport } from './sarif-report.ts'
import { withSetting } from './setting.ts'
await withSetting(async ({ ours, sql: shared }) => {
  await importReport(ours, sarifReport(100_000), 'acme/src')
  const sql = await shared.reserve()
  const cols = (await sql`select attname from pg_attribute where attrelid = 'findings'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`).map((r) => r.attname as string)
  await sql.unsafe('create unlogged table src as select * from findings')
  await sql.unsafe('alter table findings drop constraint findings_org_id_issue_id_fkey').catch((e) => console.log(String(e)))
  const [{ pid }] = await sql`select pg_backend_pid() as pid` as any
  const cpu = () => { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' '); return (Number(f[11]) + Number(f[12])) / 100 }
  const F = 'create index f on findings (org_id, facet, id)'
  const S = 'create index s on findings (org_id, stream_id, id) include (facet)'
  const S0 = 'create index s0 on findings (org_id, stream_id, id)'
  const P = 'create index p on findings (org_id, stream_id, path collate "C", id) include (facet) where path is not null'
  const P0 = 'create index p0 on findings (org_id, stream_id, path collate "C") where path is not null'
  const P1 = 'create index p1 on findings (org_id, path collate "C") where path is not null'
  const P2 = 'create index p2 on findings (stream_id, path collate "C") where path is not null'
  const S2 = 'create index s2 on findings (stream_id, id) include (facet)'
  const variants: Record<string, string[]> = { none: [], F: [F], S: [S], S0: [S0], S2: [S2], P: [P], P0: [P0], P1: [P1], P2: [P2], all: [F, S, P], light: [F, S, P0] }
  const found: Record<string, number[]> = {}
  for (let round = 0; round < 3; round += 1) for (const [name, ddl] of Object.entries(variants)) {
    await sql.unsafe('drop index if exists findings_by_facet, findings_by_stream, findings_by_path, f, s, s0, s2, p, p0, p1, p2')
    await sql.unsafe('truncate findings')
    for (const d of ddl) await sql.unsafe(d)
    await sql.unsafe('checkpoint')
    const c = cpu()
    await sql.unsafe(`insert into findings (${cols}) select ${cols} from src order by id`)
    ;(found[name] ??= []).push(Math.round((cpu() - c) * 1000))
  }
  for (const [name, t] of Object.entries(found)) console.log(name.padEnd(6), t.join(' '), 'min', Math.min(...t))
  sql.release()
})
