query
HERE/gather.gradstep
((x['indices'])[1:], value)
--override
params=Identity