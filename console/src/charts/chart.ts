import { LOCALE } from '../page/numbers.ts'
/** One line, area or part of the bars of a chart. */
export type Series = {
  key: string
  label: string
  /** A colour: a token of theme.css, without `--shiplock-`. */
  color: string
  /** One value for each day. Null: nothing is known of the day. */
  values: readonly (number | null)[]
}

/** How series are drawn: `lines` beside each other, the others on top of each other. */
export type ChartKind = 'lines' | 'areas' | 'bars'

/** What a chart shows. `dates` are days in UTC (`2026-01-31`), oldest first. */
export type ChartData = {
  kind: ChartKind
  dates: readonly string[]
  series: readonly Series[]
  /** The exact value of a point, for people: "3 h 5 min". */
  format: (value: number) => string
  /** The value of a tick of the axis, which has little room. Defaults to `format`. */
  formatTick?: (value: number) => string
  /** Steps of the axis that people read well, such as hours in seconds. Defaults to decimal steps. */
  tickSteps?: readonly number[]
  /** Values are whole numbers, so that the axis has no ticks between them. */
  isCount?: boolean
}

/** The values of one day, top of the stack first. */
export function valuesAt(
  { series }: Pick<ChartData, 'series'>,
  index: number,
): { series: Series; value: number | null }[] {
  return series.map((one) => ({ series: one, value: one.values[index] ?? null }))
}

/** Whether there is anything to draw. */
export function hasValues({ series }: Pick<ChartData, 'series'>): boolean {
  return series.some(({ values }) => values.some((value) => value !== null && value > 0))
}

const DAY = new Intl.DateTimeFormat(LOCALE, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
const TICK = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** "Sat, Jan 31" */
export function formatDay(date: string): string {
  return DAY.format(new Date(date))
}

/** "Jan 31" */
export function formatDayTick(date: string): string {
  return TICK.format(new Date(date))
}
