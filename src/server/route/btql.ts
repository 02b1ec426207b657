import type { Engine } from '../../engine.ts'
import { assert } from '../../error.ts'
import { queryReply } from '../query-answer.ts'
import { queryBodyOf, readQueryBody } from '../query-body.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route } from '../route.ts'

/** `POST /btql` runs a query; `POST /btql/explain` shows its plan instead, with what it did if `analyze` is set. */
export function btqlRoutes(engine: Engine): Route[] {
  return [
    {
      method: 'POST',
      path: '/btql',
      access: 'key',
      headers: ['accept'],
      waitsForBody: true,
      handle: (request, gate) => {
        assert(request.whole, 'a query is asked before its body is whole')
        const body = queryBodyOf(request, request.whole, gate)
        const started = performance.now()
        const reply = queryReply(engine.query(body.request), body)
        const timed = (reply: Reply) => withTime(reply, performance.now() - started)
        return reply instanceof Promise ? reply.then(timed) : timed(reply)
      },
    },
    {
      method: 'POST',
      path: '/btql/explain',
      access: 'key',
      handle: async (request, gate) => {
        const body = await readQueryBody(request, gate)
        const plan = body.isAnalyzed
          ? await engine.explainAnalyze(body.request)
          : await engine.explain(body.request)
        return jsonReply({ plan })
      },
    },
  ]
}

/** With the time from planning to the first rows, as clients know it. */
function withTime(reply: Reply, ms: number): Reply {
  return { ...reply, headers: { ...reply.headers, 'x-bt-brainstore-duration-ms': ms.toFixed(0) } }
}
