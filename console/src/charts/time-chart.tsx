import { Button, Group, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useId, useMemo, useState } from 'react'
import { ScrollBox } from '../page/sections.tsx'
import classes from './chart.module.css'
import { type ChartData, formatDay, hasValues } from './chart.ts'
import { ChartCursor } from './chart-cursor.tsx'
import { Legend } from './legend.tsx'
import { HEIGHT, layOut, Plot } from './plot.tsx'
import { valueAxis } from './scale.ts'

type TimeChartProps = {
  /** What the chart shows, as its accessible name. */
  label: string
  data: ChartData
  /** Shown in place of the drawing when there is nothing to draw. */
  empty: string
}

/** A chart over days, with its values under the cursor and as a table. */
export function TimeChart({ label, data, empty }: TimeChartProps) {
  const [isTable, setTable] = useState(false)
  const chartId = useId().replaceAll(':', '')
  return (
    <figure className={classes.chart} aria-label={label}>
      {isTable ? (
        <ChartTable label={label} data={data} />
      ) : (
        <Drawing chartId={chartId} label={label} data={data} empty={empty} />
      )}
      <Group justify="space-between" gap="xs" wrap="nowrap" mih={30} mt={4}>
        {isTable ? <span /> : <Legend chartId={chartId} data={data} />}
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          className={classes.toggle}
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          Show as table
        </Button>
      </Group>
    </figure>
  )
}

function Drawing({ chartId, label, data, empty }: TimeChartProps & { chartId: string }) {
  const { ref, width } = useElementSize()
  const axis = useMemo(() => valueAxis(data), [data])
  const layout = useMemo(() => layOut(data, axis, width), [data, axis, width])
  const isEmpty = !hasValues(data)
  return (
    <div ref={ref} className={classes.drawing} style={{ height: HEIGHT }}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden>
          <Plot chartId={chartId} data={data} axis={axis} layout={layout} />
        </svg>
      )}
      {isEmpty ? (
        <Text size="sm" c="dimmed" className={classes.empty}>
          {empty}
        </Text>
      ) : (
        width > 0 && <ChartCursor chartId={chartId} label={label} data={data} layout={layout} />
      )}
    </div>
  )
}

/** The exact values of a chart, newest day first. */
function ChartTable({ label, data: { dates, series, format } }: { label: string; data: ChartData }) {
  return (
    <ScrollBox label={`${label}, as a table`} className={classes.table}>
      <table aria-label={label} className={classes.days}>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {series.map(({ key, label }) => (
              <th key={key} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {dates.toReversed().map((date, at) => (
            <tr key={date}>
              <th scope="row">{formatDay(date)}</th>
              {series.map(({ key, values }) => {
                const value = values[dates.length - 1 - at] ?? null
                return <td key={key}>{value === null ? '–' : format(value)}</td>
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}
