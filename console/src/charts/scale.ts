import type { ChartData } from './chart.ts'

/** The vertical axis: from 0 to `top`, with ticks that people read well. */
export type ValueAxis = { top: number; ticks: number[] }

const TICKS_MAX = 5

/** Steps of times in seconds: minutes, hours, days. */
export const TIME_STEPS = [
  ...[10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 2 * 3600, 4 * 3600, 6 * 3600, 12 * 3600],
  ...[1, 2, 5, 10, 20, 30, 60, 90, 180, 365, 730].map((days) => days * 86_400),
]

/** A tick of `TIME_STEPS` in its largest whole unit: "36 h", not "1 d 12 h". */
export function formatTimeTick(seconds: number): string {
  const [unit, length] = TICK_UNITS.find(([, length]) => seconds % length === 0) ?? ['s', 1]
  return `${seconds / length} ${seconds === 0 ? 's' : unit}`
}

const TICK_UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const

/** The axis for the values of a chart. Without any value it ends at 1. */
export function valueAxis({ kind, series, tickSteps, isCount }: Omit<ChartData, 'dates' | 'format'>): ValueAxis {
  const highest = kind === 'lines' ? highestOf(series) : highestSum(series)
  const step = stepFor(highest, tickSteps, isCount ?? false)
  const count = Math.max(1, Math.ceil(highest / step - 1e-9))
  const ticks = Array.from({ length: count + 1 }, (_, index) => index * step)
  return { top: count * step, ticks }
}

function highestOf(series: ChartData['series']): number {
  return Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
}

function highestSum(series: ChartData['series']): number {
  const days = series[0]?.values.length ?? 0
  let highest = 0
  for (let day = 0; day < days; day += 1) {
    let sum = 0
    for (const { values } of series) sum += values[day] ?? 0
    highest = Math.max(highest, sum)
  }
  return highest
}

/** The smallest step that needs at most `TICKS_MAX` ticks. */
function stepFor(highest: number, steps: readonly number[] | undefined, isCount: boolean): number {
  const fitting = steps?.find((step) => highest / step <= TICKS_MAX)
  if (fitting !== undefined) return fitting
  if (highest === 0) return 1
  const rough = highest / TICKS_MAX
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough - 1e-9) as number
  return isCount ? Math.max(1, Math.ceil(step)) : step
}

/** The days that get a tick: as many as fit, evenly, the last day among them. */
export function dayTicks(days: number, width: number): number[] {
  const fitting = Math.max(1, Math.floor(width / 72))
  const step = [1, 2, 3, 5, 7, 10, 14, 15, 30, 60, 90, 120].find((days_) => days / days_ <= fitting) ?? days
  const ticks: number[] = []
  for (let index = days - 1; index >= 0; index -= step) ticks.unshift(index)
  return ticks
}
