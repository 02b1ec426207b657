import type { Engine } from '../../engine.ts'
import { queryReply } from '../query-answer.ts'
import { readQueryBody } from '../query-body.ts'
import { isJsonAccepted, recordReply } from '../record-answer.ts'
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
      handle: async (request, gate) => {
        const body = await readQueryBody(request, gate)
        const started = performance.now()
        const reply = await queryReply(await engine.query(body.request), body)
        return timed(reply, performance.now() - started)
      },
      answerNow: (body, request, gate) => {
        const isJson = isJsonAccepted(request.headers.get('accept'))
        return isJson ? recordReply(engine, body, request, gate) : undefined
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
function timed(reply: Reply, ms: number): Reply {
  return { ...reply, headers: { ...reply.headers, 'x-bt-brainstore-duration-ms': ms.toFixed(0) } }
}
