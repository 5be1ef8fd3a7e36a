import { area, line } from 'd3-shape'
import { memo } from 'react'
import classes from './chart.module.css'
import { type ChartData, formatDayTick, type Series } from './chart.ts'
import { dayTicks, type ValueAxis } from './scale.ts'

export const HEIGHT = 200
export const MARGIN = { top: 8, right: 10, bottom: 22, left: 46 }

/** The axes and the marks. It is not drawn again when the cursor moves. */
export const Plot = memo(function Plot({ chartId, data, axis, layout }: PlotProps) {
  return (
    <>
      <Patterns chartId={chartId} series={data.series} />
      <Axes data={data} axis={axis} layout={layout} />
      {data.kind === 'lines' ? (
        <Lines data={data} layout={layout} />
      ) : (
        <Stack chartId={chartId} data={data} layout={layout} />
      )}
    </>
  )
})

/** The strokes over the colour of each series, so that colour alone does not tell them apart. */
const STROKES = [null, 'M0 6 6 0', 'M0 0 6 6', 'M0 3H6', 'M3 0V6'] as const

/** Dashes of lines, in the order of the series. */
export const DASHES = [undefined, '6 3', '2 3', '8 3 2 3', '1 3'] as const

/** Where days and values are on the drawing. */
export type Layout = { width: number; x: (index: number) => number; y: (value: number) => number; step: number }

export function layOut(data: ChartData, axis: ValueAxis, width: number): Layout {
  const days = Math.max(1, data.dates.length)
  const inner = Math.max(1, width - MARGIN.left - MARGIN.right)
  const step = data.kind === 'bars' ? inner / days : inner / Math.max(1, days - 1)
  const offset = data.kind === 'bars' ? step / 2 : days === 1 ? inner / 2 : 0
  const bottom = HEIGHT - MARGIN.bottom
  return {
    width,
    step,
    x: (index) => MARGIN.left + offset + index * step,
    y: (value) => bottom - (value / axis.top) * (bottom - MARGIN.top),
  }
}

type PlotProps = { chartId: string; data: ChartData; axis: ValueAxis; layout: Layout }

function Axes({ data, axis, layout: { width, x, y } }: Omit<PlotProps, 'chartId'>) {
  const format = data.formatTick ?? data.format
  return (
    <g className={classes.axes}>
      {axis.ticks.map((tick) => (
        <g key={tick} transform={`translate(0 ${y(tick)})`}>
          <line x1={MARGIN.left} x2={width - MARGIN.right} className={classes.grid} />
          <text x={MARGIN.left - 8} dy="0.32em" textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {dayTicks(data.dates.length, width - MARGIN.left).map((index, at, all) => (
        <text
          key={index}
          x={x(index)}
          y={HEIGHT - 6}
          textAnchor={at === all.length - 1 && all.length > 1 ? 'end' : 'middle'}
        >
          {formatDayTick(data.dates[index] as string)}
        </text>
      ))}
    </g>
  )
}

/** Lines go on over days without a value; a value between two such days is a dot. */
function Lines({ data, layout: { x, y } }: { data: ChartData; layout: Layout }) {
  return data.series.map(({ key, color, values }, at) => {
    const points = values.flatMap((value, index) => (value === null ? [] : [[x(index), y(value)] as [number, number]]))
    const stroke = `var(--shiplock-${color})`
    return (
      <g key={key}>
        <path d={line()(points) ?? ''} fill="none" stroke={stroke} strokeWidth={2} strokeDasharray={DASHES[at]} />
        {points.length <= 45 && points.map(([cx, cy]) => <circle key={cx} cx={cx} cy={cy} r={2.5} fill={stroke} />)}
      </g>
    )
  })
}

function Stack({ chartId, data, layout }: Omit<PlotProps, 'axis'>) {
  const { x, y, step } = layout
  const base = data.dates.map(() => 0)
  return data.series.map(({ key, color, values }, at) => {
    const spans = values.map((value, index) => {
      const from = base[index] ?? 0
      base[index] = from + (value ?? 0)
      return [from, base[index]] as const
    })
    const fill = fillOf(chartId, at)
    if (data.kind === 'bars') return <path key={key} d={barsPath(spans, layout)} fill={fill} />
    const shape = area<readonly [number, number]>()
      .x((_, index) => x(index))
      .y0(([from]) => y(from))
      .y1(([, to]) => y(to))
    const edge = line<readonly [number, number]>()
      .x((_, index) => x(index))
      .y(([, to]) => y(to))
    return (
      <g key={key}>
        <path d={shape(step > 0 ? [...spans] : []) ?? ''} fill={fill} fillOpacity={0.85} />
        <path d={edge([...spans]) ?? ''} fill="none" stroke={`var(--shiplock-${color})`} strokeWidth={1} />
      </g>
    )
  })
}

/** All bars of a series as one path. */
function barsPath(spans: readonly (readonly [number, number])[], { x, y, step }: Layout): string {
  const width = Math.max(1, Math.min(step * 0.72, 28))
  return spans
    .flatMap(([from, to], index) =>
      to > from
        ? [
            `M${(x(index) - width / 2).toFixed(1)} ${y(from).toFixed(1)}V${y(to).toFixed(1)}h${width.toFixed(1)}V${y(from).toFixed(1)}z`,
          ]
        : [],
    )
    .join('')
}

/** The fill of a series, defined by `Patterns` of the same chart. */
export function fillOf(chartId: string, index: number): string {
  return `url(#${chartId}-${index})`
}

/** Fills with the colour of each series and, from the second one on, a pattern. */
function Patterns({ chartId, series }: { chartId: string; series: readonly Series[] }) {
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
