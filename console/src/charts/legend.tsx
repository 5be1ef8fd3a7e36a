import classes from './chart.module.css'
import type { ChartData, ChartKind, Series } from './chart.ts'
import { DASHES, fillOf } from './plot.tsx'

type SeriesMarkProps = { chartId: string; kind: ChartKind; series: Series; index: number }

/** How a series looks in the chart. */
export function SeriesMark({ chartId, kind, series, index }: SeriesMarkProps) {
  return (
    <svg width={16} height={12} aria-hidden className={classes.mark}>
      {kind === 'lines' ? (
        <line
          x1={0}
          x2={16}
          y1={6}
          y2={6}
          stroke={`var(--shiplock-${series.color})`}
          strokeWidth={2}
          strokeDasharray={DASHES[index]}
        />
      ) : (
        <rect width={16} height={12} rx={2} fill={fillOf(chartId, index)} />
      )}
    </svg>
  )
}

/** The names of the series. A single one is named by the title of the chart. */
export function Legend({ chartId, data: { kind, series } }: { chartId: string; data: ChartData }) {
  if (series.length < 2) return null
  return (
    <ul className={classes.legend}>
      {series.map((one, index) => (
        <li key={one.key}>
          <SeriesMark chartId={chartId} kind={kind} series={one} index={index} />
          {one.label}
        </li>
      ))}
    </ul>
  )
}
