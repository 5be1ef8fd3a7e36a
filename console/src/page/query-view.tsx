import { Box, Skeleton, Stack, VisuallyHidden } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem } from './states.tsx'

type QueryViewProps<Data> = {
  query: UseQueryResult<Data, unknown>
  /** What is loaded, in the plural: "runs". */
  of: string
  /** The shape of the content while it loads. Defaults to a few lines. */
  skeleton?: ReactNode
  children: (data: Data) => ReactNode
}

/** Shows a query in each of its states. Old data stays while it is read again. */
export function QueryView<Data>({ query, of, skeleton, children }: QueryViewProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError)
    return <Problem error={query.error} title={`The ${of} could not be loaded`} retry={() => query.refetch()} />
  return (
    <Box aria-busy>
      <VisuallyHidden role="status">Loading {of}</VisuallyHidden>
      {skeleton ?? <LineSkeleton lines={6} />}
    </Box>
  )
}

/** Grey lines in place of text or rows. */
export function LineSkeleton({ lines, height = 18 }: { lines: number; height?: number }) {
  return (
    <Stack gap="sm" aria-hidden>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={height} width={`${95 - ((line * 17) % 40)}%`} />
      ))}
    </Stack>
  )
}
