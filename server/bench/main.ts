import { createCiRun } from './create-ci-run.bench.ts'
import { withSetting } from './setting.ts'
import { summarize } from './benchmark.ts'
const rounds = await withSetting((s) => createCiRun.measure(s))
const r = summarize(createCiRun, rounds)
for (const x of rounds) console.log(x.ours.toFixed(0), x.bare.toFixed(0), (x.ours / x.bare).toFixed(3))
console.log(r.ours.toFixed(0), r.bare.toFixed(0), r.ratio.toFixed(3))
