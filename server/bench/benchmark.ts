/** Two figures taken one after the other, so that whatever else the machine did, it did to both. */
export type Round = { ours: number; bare: number }

/** What issue or guide ask for: of the ratio to the baseline, or of our figure itself. */
export type Bar = { of: 'ratio' | 'ours'; atLeast?: number; atMost?: number }

/** One thing that is measured beside the least program that does the same. */
export type Benchmark<Setting> = {
  name: string
  /** What is counted, and against what. */
  about: string
  /** More requests are better, more milliseconds worse. */
  unit: 'requests/s' | 'entries/s' | 'MiB/s' | 'ms' | 'MiB'
  bar: Bar | null
  /** It takes many minutes, so it runs only if it is named. */
  onlyByName?: true
  /** What it needs and does not have. It is then skipped. */
  missing?: string | null
  measure(setting: Setting): Promise<Round[]>
}

export type Result = {
  name: string
  about: string
  unit: string
  ours: number
  bare: number
  /** Median of the rounds' own ratios, ours by bare. */
  ratio: number
  rounds: Round[]
  bar: Bar | null
  /** null where there is no bar. */
  ok: boolean | null
}

type Measurement = (round: number) => Promise<number>

/** Ours, bare, ours, bare … */
export async function interleave(rounds: number, ours: Measurement, bare: Measurement): Promise<Round[]> {
  const measured: Round[] = []
  for (let round = 0; round < rounds; round += 1) measured.push({ ours: await ours(round), bare: await bare(round) })
  return measured
}

export function summarize({ name, about, unit, bar }: Omit<Benchmark<never>, 'measure'>, rounds: Round[]): Result {
  const ours = median(rounds.map((round) => round.ours))
  const bare = median(rounds.map((round) => round.bare))
  const ratio = median(rounds.map((round) => round.ours / round.bare))
  return { name, about, unit, ours, bare, ratio, rounds, bar, ok: bar && isMet(bar, { ours, ratio }) }
}

function isMet({ of, atLeast = 0, atMost = Number.POSITIVE_INFINITY }: Bar, figures: Pick<Result, 'ours' | 'ratio'>) {
  return figures[of] >= atLeast && figures[of] <= atMost
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1)
  return (low + high) / 2
}
