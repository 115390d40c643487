// node-redis

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createClient } from 'redis';

import { Mailbox, port } from './server.js';

async function connect(t, options) {
  const client = createClient({ socket: { port, host: '127.0.0.1', reconnectStrategy: 10 }, ...options });
  client.on('error', () => {}); // A reconnecting client says why; that it works again is the test.
  await client.connect();
  t.after(() => client.destroy());
  return client;
}

for (const RESP of [2, 3]) {
  const name = (what) => `node-redis over RESP${RESP} ${what}`;

  test(name('runs commands'), async (t) => {
    const client = await connect(t, { RESP });
    assert.equal(await client.ping(), 'PONG');
    await client.set('node', '41', { EX: 100 });
    assert.equal(await client.incr('node'), 42);
    await client.del('node-hash');
    await client.hSet('node-hash', { a: '1', b: '2' });
    assert.deepEqual({ ...(await client.hGetAll('node-hash')) }, { a: '1', b: '2' });
    await assert.rejects(client.sendCommand(['NOSUCH']), /unknown command 'NOSUCH'/);
  });

  test(name('subscribes and unsubscribes'), async (t) => {
    const [publisher, subscriber] = [await connect(t, { RESP }), await connect(t, { RESP })];
    const [a, b, matched, sharded] = [new Mailbox(), new Mailbox(), new Mailbox(), new Mailbox()];
    await subscriber.subscribe('node-a', a.put);
    await subscriber.subscribe('node-b', b.put);
    await subscriber.pSubscribe('node-n*', matched.put);
    await subscriber.sSubscribe('node-s', sharded.put);
    assert.equal(await publisher.publish('node-a', '1'), 1);
    assert.deepEqual(await a.next(), ['1', 'node-a']);
    assert.equal(await publisher.publish('node-news', '2'), 1);
    assert.deepEqual(await matched.next(), ['2', 'node-news']);
    assert.equal(await publisher.sPublish('node-s', '3'), 1);
    assert.deepEqual(await sharded.next(), ['3', 'node-s']);
    await subscriber.unsubscribe('node-a');
    await subscriber.pUnsubscribe('node-n*');
    await subscriber.sUnsubscribe('node-s');
    assert.equal(await publisher.publish('node-a', '4'), 0);
    assert.equal(await publisher.publish('node-news', '4'), 0);
    assert.equal(await publisher.sPublish('node-s', '4'), 0);
    assert.equal(await publisher.publish('node-b', '5'), 1);
    assert.deepEqual(await b.next(), ['5', 'node-b']);
    await subscriber.ping();
    await subscriber.unsubscribe();
    assert.equal(await subscriber.get('nosuch'), null);
  });

  test(name('pipelines and runs transactions'), async (t) => {
    const [client, subscriber] = [await connect(t, { RESP }), await connect(t, { RESP })];
    const messages = new Mailbox();
    await subscriber.subscribe('node-pipe', messages.put);
    // Commands of one turn of the event loop are pipelined.
    const numbers = Array.from({ length: 1000 }, (_, number) => String(number));
    const counts = await Promise.all(numbers.map((number) => client.publish('node-pipe', number)));
    assert.ok(counts.every((count) => count === 1));
    for (const number of numbers) assert.deepEqual(await messages.next(), [number, 'node-pipe']);
    const results = await client.multi().set('node-k', 41).incr('node-k').publish('node-pipe', 'x').exec();
    assert.deepEqual(results, ['OK', 42, 1]);
    assert.deepEqual(await messages.next(), ['x', 'node-pipe']);
  });

  test(name('reconnects and subscribes again'), async (t) => {
    const publisher = await connect(t, { RESP });
    const own = `node-reconnects-${RESP}`;
    const subscriber = await connect(t, { RESP, name: own });
    const messages = new Mailbox();
    await subscriber.subscribe('node-again', messages.put);
    for (let round = 0; round < 3; round += 1) {
      const list = await publisher.sendCommand(['CLIENT', 'LIST']);
      const mine = list.split('\n').find((line) => line.includes(`name=${own} `));
      // Not `once` of node:events, which rejects at the 'error' that comes first.
      const ready = new Promise((resolve) => subscriber.once('ready', resolve));
      await publisher.sendCommand(['CLIENT', 'KILL', 'ID', mine.match(/\bid=(\d+)/)[1]]);
      await ready;
      assert.equal(await publisher.publish('node-again', String(round)), 1);
      assert.deepEqual(await messages.next(), [String(round), 'node-again']);
    }
  });
}
