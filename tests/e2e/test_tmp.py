import json, time, pytest
def A(e, **k):
    import dataclasses
    return type(e.resetting())(**k)
CASES = {
 "html": lambda e: (lambda r: A(e, body="<html>hi</html>", kind="text/html")),
 "html-as-json": lambda e: (lambda r: A(e, body="<html>hi</html>")),
 "other-json": lambda e: (lambda r: A(e, body={"status":"ok"})),
 "json-list": lambda e: (lambda r: A(e, body=[1,2])),
 "json-null": lambda e: (lambda r: A(e, body="null")),
 "json-str": lambda e: (lambda r: A(e, body='"hello"')),
 "empty-body": lambda e: (lambda r: A(e, body='')),
 "200-error": lambda e: (lambda r: A(e, body={"error":{"message":"overloaded","code":502}})),
 "empty-choices": lambda e: (lambda r: A(e, body=e.completion([]))),
 "choices-null-item": lambda e: (lambda r: A(e, body=e.completion([None]))),
 "choices-odd": lambda e: (lambda r: A(e, body=e.completion([{"message": "text"}]))),
 "content-list": lambda e: (lambda r: A(e, body=e.completion([{"message": {"role":"assistant","content":[{"type":"text","text":"{}"}]}}]))),
 "no-message": lambda e: (lambda r: A(e, body=e.completion([{"finish_reason":"stop"}]))),
 "usage-odd": lambda e: (lambda r: A(e, body=e.completion([{"message":{"content":'{"score":1}'},"finish_reason":"stop"}])|{"usage":{"prompt_tokens":"many"}})),
 "usage-str": lambda e: (lambda r: A(e, body=e.completion([{"message":{"content":'{"score":1}'},"finish_reason":"stop"}])|{"usage":"x"})),
 "finish-odd": lambda e: (lambda r: A(e, body=e.completion([{"message":{"content":'{"score":1}'},"finish_reason":7}]))),
 "surrogate": lambda e: (lambda r: A(e, body='{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\\"score\\": 1, \\"justification\\": \\"\\ud83d\\"}"}}]}')),
 "inner-surrogate": lambda e: (lambda r: e.saying('{"score": 1, "justification": "\\ud83d"}')),
 "nul": lambda e: (lambda r: e.saying('{"score": 1, "justification": "a\\u0000b"}\x00')),
 "reset-once": lambda e: e.first(e.resetting()),
 "400-later": lambda e: e.first(e.good(type("R",(),{"key":"1","body":{"model":"m"}})()), *[e.error(400,"no")]*9),
 "401-later": lambda e: e.first(e.good(type("R",(),{"key":"1","body":{"model":"m"}})()), *[e.error(401,"no")]*9),
 "429-date": lambda e: e.first(e.error(429, "slow", retry_after="Wed, 21 Oct 2015 07:28:00 GMT")),
 "429-neg": lambda e: e.first(e.error(429, "slow", retry_after="-5")),
 "500html": lambda e: e.first(A(e,status=500,body="<html>oops</html>",kind="text/html")),
 "error-str": lambda e: e.first(A(e,status=503,body={"error":"overloaded"})),
 "error-list": lambda e: e.first(A(e,status=503,body=["x"])),
 "error-nullmsg": lambda e: e.first(A(e,status=503,body={"error":None})),
 "307": lambda e: (lambda r: A(e,status=307,body="",headers={"Location":"/elsewhere"})),
 "204": lambda e: (lambda r: A(e,status=204,body="")),
}
@pytest.mark.parametrize("name", CASES)
def test_it(ask, endpoint, replies, out, name):
    endpoint.script = CASES[name](endpoint)
    t=time.time(); r = ask("--concurrency","1"); 
    with open("/tmp/try/log.txt","a") as f:
      print("=====", name, r.code, round(time.time()-t,2), len(endpoint.requests), file=f)
      print(r.err, file=f)
      try: print([(x["text"],x["error"],x["finish_reason"],x["refusal"]) for x in replies(out)][:3], file=f)
      except Exception as e: print(repr(e), file=f)
