import { type PointerEvent, type PointerEventHandler, useRef } from 'react'

const CLICK_PX_MAX = 4

type DragScroll = {
  onPointerDown: PointerEventHandler<HTMLElement>
  onPointerMove: PointerEventHandler<HTMLElement>
  onPointerUp: PointerEventHandler<HTMLElement>
  onPointerCancel: PointerEventHandler<HTMLElement>
}

/** Lets a mouse drag the content of a box that scrolls. Fingers and wheels scroll it anyway. */
export function useDragScroll(): DragScroll {
  const start = useRef<{ x: number; y: number; left: number; top: number } | null>(null)
  const end = ({ currentTarget, pointerId }: PointerEvent<HTMLElement>) => {
    start.current = null
    if (currentTarget.hasPointerCapture(pointerId)) currentTarget.releasePointerCapture(pointerId)
  }
  return {
    onPointerDown: ({ button, pointerType, clientX, clientY, currentTarget }) => {
      if (pointerType !== 'mouse' || button !== 0) return
      start.current = { x: clientX, y: clientY, left: currentTarget.scrollLeft, top: currentTarget.scrollTop }
    },
    onPointerMove: ({ clientX, clientY, currentTarget, pointerId }) => {
      if (start.current === null) return
      const { x, y, left, top } = start.current
      // A click on a node is no drag: the capture would take the click away from the node.
      if (Math.hypot(clientX - x, clientY - y) > CLICK_PX_MAX) currentTarget.setPointerCapture(pointerId)
      currentTarget.scrollTo(left - (clientX - x), top - (clientY - y))
    },
    onPointerUp: end,
    onPointerCancel: end,
  }
}
