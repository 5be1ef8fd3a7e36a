import type { Series } from './chart.ts'

/** The strokes over the colour of each series, so that colour alone does not tell them apart. */
const STROKES = [null, 'M0 6 6 0', 'M0 0 6 6', 'M0 3H6', 'M3 0V6'] as const
/** Dashes of lines, in the order of the series. */
export const DASHES = [undefined, '6 3', '2 3', '8 3 2 3', '1 3'] as const

/** The fill of a series, defined by `Patterns` of the same chart. */
export function fillOf(chartId: string, index: number): string {
  return `url(#${chartId}-${index})`
}

/** Fills with the colour of each series and, from the second one on, a pattern. */
export function Patterns({ chartId, series }: { chartId: string; series: readonly Series[] }) {
  return (
    <defs>
      {series.map(({ key, color }, index) => (
        <pattern key={key} id={`${chartId}-${index}`} width={6} height={6} patternUnits="userSpaceOnUse">
          <rect width={6} height={6} fill={`var(--shiplock-${color})`} />
          <path
            d={STROKES[index % STROKES.length] ?? ''}
            stroke="var(--mantine-color-body)"
            strokeOpacity={0.55}
            fill="none"
          />
        </pattern>
      ))}
    </defs>
  )
}
